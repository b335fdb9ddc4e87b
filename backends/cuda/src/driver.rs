//! All calls of the CUDA driver.

use std::ffi::{CStr, CString, c_void};
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DriverError, result, sys};
use tf_artifact::{Argument, Artifact, Kernel};
use tf_value::Tensor;

use crate::{CudaError, Run};

/// Room for the compiler's log of rejected PTX.
const LOG_BYTES: usize = 1 << 14;

/// One device of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number.
    pub ordinal: usize,
    /// Its name, as `NVIDIA H200`.
    pub name: String,
    /// Major and minor compute capability.
    pub compute_capability: (i32, i32),
}

/// Names the step during which a driver call failed.
fn during(doing: impl Into<String>) -> impl FnOnce(DriverError) -> CudaError {
    move |error| CudaError::Driver { doing: doing.into(), error: words(error) }
}

fn words(error: DriverError) -> String {
    let text = |found: Result<&CStr, DriverError>| found.map(|text| text.to_string_lossy().into_owned()).ok();
    match (text(error.error_name()), text(error.error_string())) {
        (Some(name), Some(string)) => format!("{string} ({name})"),
        _ => format!("{:?}", error.0),
    }
}

/// Every other function here relies on this one having found the library: cudarc panics where it is missing.
fn device_count() -> Result<usize, CudaError> {
    // SAFETY: loads a library by its well-known name; its initialisers are the driver's own.
    if !unsafe { sys::is_culib_present() } {
        return Err(CudaError::NoDriver);
    }
    match CudaContext::device_count() {
        Ok(count) => Ok(usize::try_from(count).unwrap_or(0)),
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => Ok(0),
        Err(error) => Err(during("starting the driver")(error)),
    }
}

pub(crate) fn devices() -> Result<Vec<Device>, CudaError> {
    (0..device_count()?)
        .map(|ordinal| {
            let context = CudaContext::new(ordinal).map_err(during(format!("opening device {ordinal}")))?;
            let describe = || Ok((context.name()?, context.compute_capability()?));
            let (name, compute_capability) = describe().map_err(during("reading a device's name"))?;
            Ok(Device { ordinal, name, compute_capability })
        })
        .collect()
}

/// A loaded module; unloaded when dropped, while its context is alive.
struct Module {
    handle: sys::CUmodule,
    context: Arc<CudaContext>,
}

impl Module {
    fn load(context: &Arc<CudaContext>, ptx: &str) -> Result<Self, CudaError> {
        context.bind_to_thread().map_err(during("binding the device"))?;
        let rejected = |error, log| CudaError::Ptx { error, log };
        let image = CString::new(ptx).map_err(|_| rejected("the text holds a zero byte".into(), String::new()))?;
        let mut handle = std::ptr::null_mut();
        let mut log = vec![0u8; LOG_BYTES];
        let mut options =
            [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // The driver takes an integer option in the place of the pointer.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(LOG_BYTES - 1)];
        // SAFETY: the image is zero-terminated; both option arrays have two entries and, like the log, outlive the call.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(&mut handle, image.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())
        };
        match loaded.result() {
            Ok(()) => Ok(Self { handle, context: context.clone() }),
            Err(error) => {
                let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
                Err(rejected(words(error), String::from_utf8_lossy(&log[..end]).trim_end().to_owned()))
            }
        }
    }

    fn function(&self, kernel: &Kernel) -> Result<sys::CUfunction, CudaError> {
        let doing = || during(format!("preparing the kernel `{}`", kernel.symbol));
        let name = CString::new(kernel.symbol.as_str()).map_err(|_| CudaError::Ptx {
            error: format!("the kernel name {:?} holds a zero byte", kernel.symbol),
            log: String::new(),
        })?;
        // SAFETY: the module is loaded for as long as `self` lives, and with it the function.
        unsafe {
            let function = result::module::get_function(self.handle, name).map_err(doing())?;
            let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            result::function::set_function_attribute(function, attribute, kernel.dynamic_shared_bytes.cast_signed())
                .map_err(doing())?;
            Ok(function)
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the handle is this module's own and is not used afterwards; an error could only be the context's, which it keeps.
            let _ = unsafe { result::module::unload(self.handle) };
        }
    }
}

/// A kernel with its function and its parameters' numbers.
struct Launch<'a> {
    kernel: &'a Kernel,
    function: sys::CUfunction,
    buffers: Vec<usize>,
}

impl Launch<'_> {
    fn submit(&self, stream: &CudaStream, addresses: &[sys::CUdeviceptr]) -> Result<(), CudaError> {
        let [gx, gy, gz] = self.kernel.grid;
        let [bx, by, bz] = self.kernel.block;
        let mut arguments: Vec<*mut c_void> =
            self.buffers.iter().map(|&buffer| (&raw const addresses[buffer]).cast_mut().cast()).collect();
        // SAFETY: the function belongs to a loaded module; the driver copies the addresses before it returns; the artifact's manifest was
        // checked to name buffers of the entry, which live until the stream has been waited for.
        unsafe {
            result::launch_kernel(
                self.function,
                (gx, gy, gz),
                (bx, by, bz),
                self.kernel.dynamic_shared_bytes,
                stream.cu_stream(),
                &mut arguments,
            )
        }
        .map_err(during(format!("launching the kernel `{}`", self.kernel.symbol)))
    }
}

/// `images` holds the content of each parameter before the launch, as [`crate::bind::images`] gives it.
pub(crate) fn run(
    artifact: &Artifact,
    ordinal: usize,
    images: &[Option<Vec<u8>>],
    runs: u32,
) -> Result<Run, CudaError> {
    let count = device_count()?;
    if ordinal >= count {
        return Err(CudaError::NoDevice { ordinal, count });
    }
    let context = CudaContext::new(ordinal).map_err(during(format!("opening device {ordinal}")))?;
    let stream = context.default_stream();
    let module = Module::load(&context, artifact.ptx())?;
    let manifest = artifact.manifest();
    let parameters = &manifest.entry.parameters;
    let launches = manifest
        .kernels
        .iter()
        .map(|kernel| {
            let of = |Argument::Parameter(name): &Argument| parameters.iter().position(|one| one.name == *name);
            let buffers = kernel.arguments.iter().filter_map(of).collect();
            Ok(Launch { kernel, function: module.function(kernel)?, buffers })
        })
        .collect::<Result<Vec<_>, CudaError>>()?;

    let mut buffers: Vec<CudaSlice<u8>> = Vec::with_capacity(images.len());
    for (image, parameter) in images.iter().zip(parameters) {
        // The driver allocates no empty memory; the bytes after an empty tensor are never read.
        let bytes = parameter.bytes().unwrap_or(0).max(1);
        let ones = || vec![0xff; bytes];
        let image = image.clone().filter(|image| !image.is_empty()).unwrap_or_else(ones);
        buffers.push(stream.clone_htod(&image).map_err(during(format!("copying `{}` to the device", parameter.name)))?);
    }
    let addresses: Vec<sys::CUdeviceptr> = buffers.iter().map(|buffer| buffer.device_ptr(&stream).0).collect();
    let submit = || launches.iter().try_for_each(|launch| launch.submit(&stream, &addresses));
    submit()?;
    stream.synchronize().map_err(during("running the kernels"))?;

    let mut outputs = Vec::with_capacity(manifest.entry.outputs);
    let first = parameters.len() - manifest.entry.outputs;
    for (buffer, parameter) in buffers[first..].iter().zip(&parameters[first..]) {
        let mut bytes =
            stream.clone_dtoh(buffer).map_err(during(format!("copying `{}` from the device", parameter.name)))?;
        stream.synchronize().map_err(during("copying results"))?;
        bytes.truncate(parameter.bytes().unwrap_or(0));
        let tensor = Tensor::from_le_bytes(&parameter.shape, parameter.dtype, &bytes);
        outputs.push(tensor.map_err(|error| CudaError::Inputs(error.message))?);
    }
    Ok(Run { outputs, median_us: median_us(&context, &stream, runs, submit)? })
}

/// The median time of `runs` launches after as many to warm up.
fn median_us(
    context: &Arc<CudaContext>,
    stream: &CudaStream,
    runs: u32,
    submit: impl Fn() -> Result<(), CudaError>,
) -> Result<Option<f64>, CudaError> {
    if runs == 0 {
        return Ok(None);
    }
    for _ in 0..runs {
        submit()?;
    }
    let event = || context.new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT)).map_err(during("making an event"));
    let (start, end) = (event()?, event()?);
    let mut times = Vec::with_capacity(runs as usize);
    for _ in 0..runs {
        start.record(stream).map_err(during("timing"))?;
        submit()?;
        end.record(stream).map_err(during("timing"))?;
        times.push(f64::from(start.elapsed_ms(&end).map_err(during("timing"))?) * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    Ok(Some(if times.len() % 2 == 1 { times[middle] } else { f64::midpoint(times[middle - 1], times[middle]) }))
}
