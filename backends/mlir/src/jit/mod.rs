//! CPU JIT: compiles a module's functions and calls them with raw byte buffers.
mod engine;
mod signature;

use crate::{BackendError, Pipeline, Session, gpu::copy};
use engine::Engine;
use melior::ir::Module;
use signature::{Parameter, Signature};
use std::{borrow::Cow, collections::BTreeMap, fmt};
use tf_tir::held::c_order;

/// Emitted vector accesses state this alignment, so every buffer must have it.
pub const ALIGNMENT: usize = 16;

/// One argument of a compiled function. Buffers hold elements in C order, native endianness.
pub enum Argument<'a> {
    /// A memref the function only reads.
    Input {
        /// All elements.
        bytes: &'a [u8],
        /// Extents, which must be the parameter's.
        shape: &'a [usize],
    },
    /// A memref the function may write.
    Output {
        /// All elements.
        bytes: &'a mut [u8],
        /// Extents, which must be the parameter's.
        shape: &'a [usize],
    },
    /// An integer or index scalar; truncated to the parameter's width.
    Int(i64),
    /// An f32 or f64 scalar.
    Float(f64),
}

/// The compiled functions of one module.
pub struct Jit {
    engine: Engine,
    functions: BTreeMap<String, Signature>,
}

impl fmt::Debug for Jit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Jit").field("functions", &self.functions).finish_non_exhaustive()
    }
}

impl Jit {
    /// Lowers a copy of `module` and compiles it. Callable are its public `func.func`s with a body
    /// and no results, over static memrefs in C order and scalars.
    ///
    /// # Errors
    /// The messages of the verifier, of a pass, or of the code generator (an unknown symbol).
    pub fn compile(session: &Session, module: &Module<'_>, optimization: u8) -> Result<Self, BackendError> {
        session.verify(module)?;
        let mut lowered = copy(module)?;
        let functions = signature::collect(session, &mut lowered)?;
        Pipeline::Cpu.run(session, &mut lowered)?;
        let engine = Engine::new(session, &lowered, optimization)?;
        for name in functions.keys() {
            engine.lookup(name)?;
        }
        Ok(Self { engine, functions })
    }

    /// Names of the callable functions, sorted.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// Calls a function. A buffer that is not aligned to [`ALIGNMENT`] is copied in and out.
    ///
    /// # Errors
    /// An unknown function; a wrong number, kind, shape or byte length of the arguments.
    ///
    /// # Safety
    /// The compiled code must stay inside its memrefs and must not write to those passed as
    /// [`Argument::Input`].
    pub unsafe fn invoke(&self, name: &str, arguments: &mut [Argument<'_>]) -> Result<(), BackendError> {
        let signature = self.functions.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.functions().collect();
            BackendError::new(format!("no compiled function `{name}`; there are: {}", known.join(", ")))
        })?;
        if signature.parameters.len() != arguments.len() {
            return Err(BackendError::new(format!(
                "`{name}` takes {} arguments, not {}",
                signature.parameters.len(),
                arguments.len()
            )));
        }
        let mut slots = Vec::with_capacity(arguments.len());
        for (index, (parameter, argument)) in signature.parameters.iter().zip(arguments.iter_mut()).enumerate() {
            let slot = Slot::new(parameter, argument)
                .map_err(|reason| BackendError::new(format!("argument {index} of `{name}`: {reason}")))?;
            slots.push(slot);
        }
        // A slot's words do not move any more: the callee gets a pointer to each memref descriptor.
        let mut descriptors: Vec<*mut u64> = slots.iter_mut().map(|slot| slot.words.as_mut_ptr()).collect();
        let mut packed: Vec<*mut ()> = descriptors
            .iter_mut()
            .zip(&signature.parameters)
            .map(|(descriptor, parameter)| match parameter {
                Parameter::MemRef { .. } => std::ptr::from_mut(descriptor).cast(),
                Parameter::Int { .. } | Parameter::Float { .. } => descriptor.cast(),
            })
            .collect();
        // SAFETY: the arguments were checked against the signature; the rest is the caller's promise.
        unsafe { self.engine.call(name, &mut packed) }?;
        for (slot, argument) in slots.iter().zip(arguments) {
            slot.copy_back(argument);
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Block([u8; ALIGNMENT]);

/// One argument as the callee sees it.
struct Slot {
    /// A memref descriptor (allocated, aligned, offset, sizes, strides) or a scalar's bits.
    words: Vec<u64>,
    /// Aligned stand-in for a misaligned buffer.
    bounce: Option<Vec<Block>>,
}

impl Slot {
    fn new(parameter: &Parameter, argument: &mut Argument<'_>) -> Result<Self, String> {
        let scalar = |bits| Ok(Self { words: vec![bits], bounce: None });
        match (parameter, argument) {
            (Parameter::MemRef { shape, element }, Argument::Input { bytes, shape: given }) => {
                Self::memref(shape, *element, given, bytes.as_ptr().cast_mut(), bytes.len())
            }
            (Parameter::MemRef { shape, element }, Argument::Output { bytes, shape: given }) => {
                Self::memref(shape, *element, given, bytes.as_mut_ptr(), bytes.len())
            }
            (Parameter::Int { .. }, Argument::Int(value)) => scalar(value.cast_unsigned()),
            (Parameter::Float { width: 32 }, Argument::Float(value)) => scalar(u64::from((*value as f32).to_bits())),
            (Parameter::Float { .. }, Argument::Float(value)) => scalar(value.to_bits()),
            (parameter, argument) => Err(format!("expected {parameter}, got {}", argument.kind())),
        }
    }

    fn memref(shape: &[usize], element: usize, given: &[usize], data: *mut u8, length: usize) -> Result<Self, String> {
        if shape != given {
            return Err(format!("expected shape {shape:?}, got {given:?}"));
        }
        let bytes = shape.iter().product::<usize>() * element;
        if bytes != length {
            return Err(format!("shape {shape:?} takes {bytes} bytes, got {length}"));
        }
        let mut bounce = None;
        let mut data = data;
        if bytes > 0 && data.align_offset(ALIGNMENT) != 0 {
            let mut blocks = vec![Block([0; ALIGNMENT]); bytes.div_ceil(ALIGNMENT)];
            let target = blocks.as_mut_ptr().cast::<u8>();
            // SAFETY: both sides are `bytes` long and distinct.
            unsafe { std::ptr::copy_nonoverlapping(data, target, bytes) };
            data = target;
            bounce = Some(blocks);
        }
        let address = data.expose_provenance() as u64;
        let mut words = vec![address, address, 0];
        words.extend(shape.iter().map(|&size| size as u64));
        let extents: Vec<_> = shape.iter().map(|&size| size as i64).collect();
        words.extend(c_order(&extents).into_iter().map(i64::cast_unsigned));
        Ok(Self { words, bounce })
    }

    fn copy_back(&self, argument: &mut Argument<'_>) {
        if let (Some(blocks), Argument::Output { bytes, .. }) = (&self.bounce, argument) {
            // SAFETY: the blocks hold at least as many bytes as the buffer they stand for.
            let source = unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast::<u8>(), bytes.len()) };
            bytes.copy_from_slice(source);
        }
    }
}

impl Argument<'_> {
    fn kind(&self) -> Cow<'static, str> {
        match self {
            Self::Input { shape, .. } | Self::Output { shape, .. } => format!("a buffer of shape {shape:?}").into(),
            Self::Int(_) => "an integer".into(),
            Self::Float(_) => "a float".into(),
        }
    }
}
