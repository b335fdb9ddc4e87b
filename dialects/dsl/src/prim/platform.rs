//! `T.cuda`: instructions of a platform as compile-time values.

use ruff_python_ast as ast;
use tf_core::Span;
use tf_core::diag::did_you_mean;
use tf_target::mma::{MmaAtom, MmaOpSpec};

use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

/// A name below `T.cuda`.
#[derive(Clone, Copy)]
pub(crate) enum Platform<'c> {
    /// `T.cuda`
    Cuda,
    /// `T.cuda.mma`
    Mma,
    /// `T.cuda.mma.atom`
    MakeAtom,
    /// `T.cuda.mma.SM80_16x8x16_F32BF16BF16F32_TN`
    Instruction(MmaOpSpec),
    /// `T.cuda.mma.atom(op=...)`
    Atom(MmaAtom<'c>),
}

impl Platform<'_> {
    /// What it is, for messages.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Cuda => "the platform `T.cuda`".to_owned(),
            Self::Mma => "`T.cuda.mma`".to_owned(),
            Self::MakeAtom => "`T.cuda.mma.atom`".to_owned(),
            Self::Instruction(spec) => format!("the instruction `{}`", spec.name()),
            Self::Atom(atom) => format!("an atom of `{}`", atom.op.name()),
        }
    }
}

impl<'c> Parser<'_, 'c> {
    pub(crate) fn platform_attribute(&self, base: Platform<'c>, name: &str, span: Span) -> Res<Value<'c>> {
        let instruction = |spec| Ok(Value::Platform(Platform::Instruction(spec)));
        match (base, name) {
            (Platform::Cuda, "mma") => Ok(Value::Platform(Platform::Mma)),
            (Platform::Mma, "atom") => Ok(Value::Platform(Platform::MakeAtom)),
            (Platform::Mma, _) => {
                MmaOpSpec::named(name).map_or_else(|| Err(unknown_instruction(name, span)), instruction)
            }
            (Platform::Instruction(spec), _) => self.instruction_attribute(spec, name, span),
            (Platform::Atom(atom), "op") => instruction(atom.op),
            (Platform::Atom(atom), "A") => Ok(Value::Shard(atom.a)),
            (Platform::Atom(atom), "B") => Ok(Value::Shard(atom.b)),
            (Platform::Atom(atom), "C") => Ok(Value::Shard(atom.c)),
            (Platform::Atom(atom), "required_scope") => Ok(Value::Mesh(atom.required_scope)),
            (Platform::Atom(_), _) => {
                let refusal = Refusal::wrong(span, format!("an atom has no attribute `{name}`"));
                Err(refusal.help("it has A, B, C, op and required_scope"))
            }
            (Platform::Cuda | Platform::MakeAtom, _) => {
                Err(Refusal::wrong(span, format!("{} has no `{name}`", base.describe())))
            }
        }
    }

    fn instruction_attribute(&self, spec: MmaOpSpec, name: &str, span: Span) -> Res<Value<'c>> {
        let [a, b, c] = spec.dtypes();
        Ok(match name {
            "name" => Value::Str(self.cx.symbol(&spec.name())),
            "operand_layout" => Value::Str(self.cx.symbol(spec.operand_layout())),
            "dtype_a" => Value::DType(a),
            "dtype_b" => Value::DType(b),
            "dtype_c" => Value::DType(c),
            "shape_mnk" => {
                let shape = spec.shape_mnk().map(Value::Int).to_vec();
                return Value::tuple(shape).ok_or(Refusal::Reported);
            }
            _ => {
                let refusal = Refusal::wrong(span, format!("an instruction has no attribute `{name}`"));
                return Err(refusal.help("it has name, shape_mnk, dtype_a, dtype_b, dtype_c and operand_layout"));
            }
        })
    }

    /// `T.cuda.mma.atom(op=...)`.
    pub(crate) fn platform_call(&mut self, base: Platform<'c>, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        const WHAT: &str = "T.cuda.mma.atom";
        let Platform::MakeAtom = base else {
            let refusal = Refusal::wrong(span, format!("{} is not called", base.describe()));
            return Err(refusal.help("the fragments of an instruction are `T.cuda.mma.atom(op=...)`"));
        };
        let given = self.arguments(call, WHAT, &["op"])?;
        let Some(op) = given[0] else { return Err(Refusal::wrong(span, format!("`{WHAT}` needs `op`"))) };
        match self.eval(op, None)? {
            Value::Platform(Platform::Instruction(spec)) => Ok(Value::Platform(Platform::Atom(spec.atom(self.cx)))),
            other => {
                let message = format!("`op` of `{WHAT}` is an instruction, found {}", other.describe());
                Err(Refusal::wrong(self.span(op), message).help("write `T.cuda.mma.NAME`"))
            }
        }
    }
}

fn unknown_instruction(name: &str, span: Span) -> Refusal {
    let known: Vec<String> = MmaOpSpec::all().map(MmaOpSpec::name).collect();
    let refusal = Refusal::wrong(span, format!("there is no matrix instruction `{name}`"));
    match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(near) => refusal.help(format!("did you mean `{near}`?")),
        None => refusal.help(format!("the first of {} is `{}`", known.len(), known[0])),
    }
}
