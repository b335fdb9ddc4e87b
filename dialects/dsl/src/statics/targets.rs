//! Constructor calls of targets.

use ruff_python_ast as ast;
use tf_core::{Span, Target, TargetKind};

use crate::parser::Parser;
use crate::refusal::{Refusal, Res};
use crate::value::Value;

impl<'c> Parser<'_, 'c> {
    /// `CudaTarget("nvidia.h200_sxm")`, `AmxTarget()`. Whether there is such a device is checked with the module's levels.
    pub(super) fn device_target(&mut self, kind: TargetKind, call: &ast::ExprCall, span: Span) -> Res<Value<'c>> {
        let (what, default, params): (_, _, &[&str]) = match kind {
            TargetKind::Amx => ("AmxTarget", Some("apple.m2_pro"), &["device", "architecture"]),
            _ => ("CudaTarget", None, &["device", "architecture", "arch"]),
        };
        let given = self.arguments(call, what, params)?;
        let device = match (given[0], default) {
            (Some(device), _) => self.string(device, &format!("the device of a `{what}`"))?,
            (None, Some(default)) => default,
            (None, None) => {
                let device = self.device_of(given[1..].iter().copied().flatten().next(), what)?;
                let refusal = Refusal::wrong(span, format!("`{what}` needs `device`"));
                return Err(refusal.help(format!("write `{what}(\"{device}\")`")));
            }
        };
        for expr in given[1..].iter().copied().flatten() {
            self.check_architecture(device, expr, what)?;
        }
        Ok(Value::Target(Target { kind, device: self.cx.symbol(device) }))
    }

    /// The device that was likely meant: the first one of the architecture that is stated alone.
    fn device_of(&mut self, architecture: Option<&ast::Expr>, what: &str) -> Res<&'static str> {
        let default = tf_target::default_device();
        let Some(expr) = architecture else { return Ok(default) };
        let stated = self.string(expr, &format!("the architecture of a `{what}`"))?;
        let is_meant = |device: &&str| {
            tf_target::lookup(device).is_ok_and(|known| {
                let architecture = &known.architecture;
                architecture.name == stated || architecture.code == stated
            })
        };
        Ok(tf_target::device_names().into_iter().find(is_meant).unwrap_or(default))
    }

    /// An architecture beside the device is the one that the device has, by its name or that of the code generator.
    fn check_architecture(&mut self, device: &str, expr: &ast::Expr, what: &str) -> Res<()> {
        if matches!(expr, ast::Expr::NoneLiteral(_)) {
            return Ok(());
        }
        let stated = self.string(expr, &format!("the architecture of a `{what}`"))?;
        let Ok(known) = tf_target::lookup(device) else { return Ok(()) };
        let own = &known.architecture.name;
        if own == stated || known.architecture.code == stated {
            return Ok(());
        }
        let message = format!("the device `{device}` has the architecture `{own}`, not `{stated}`");
        Err(Refusal::wrong(self.span(expr), message).help("leave the architecture out"))
    }
}
