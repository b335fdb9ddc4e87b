//! Declarations of intrinsics: what the author wrote.

use rustc_hash::FxHashSet;
use tf_core::node::Intrinsic;
use tf_core::{Context, Diagnostic, Result};

use super::Printer;
use super::names::IMPORTS;
use crate::prim::names_of;

/// An intrinsic with the names that its declaration uses.
pub(super) struct Declared<'c> {
    intrinsic: &'c Intrinsic<'c>,
    pub(super) names: Vec<String>,
}

impl<'c> Declared<'c> {
    /// Reads the declarations of a file.
    pub(super) fn all(cx: &Context<'c>, intrinsics: &[&'c Intrinsic<'c>]) -> Result<Vec<Self>> {
        let mut names = FxHashSet::default();
        let mut declared = Vec::new();
        for &intrinsic in intrinsics {
            if !names.insert(intrinsic.name) {
                return Err(Diagnostic::error(format!("there are two intrinsics `{intrinsic}`")));
            }
            declared.push(Self { intrinsic, names: names_of(cx, intrinsic)? });
        }
        Ok(declared)
    }

    pub(super) fn uses_math(&self) -> bool {
        self.names.iter().any(|name| name == "math")
    }
}

impl<'c> Printer<'_, 'c> {
    /// The declaration, whose names mean the same in the file.
    pub(super) fn intrinsic(&mut self, declared: &Declared<'c>) -> Result<String> {
        let Declared { intrinsic, names } = declared;
        for name in names {
            let imported = IMPORTS.iter().flat_map(|(_, names)| names.iter()).find(|known| **known == name);
            let means_it = match imported {
                Some(imported) => self.file.import(imported) == name,
                None => !self.file.is_given(self.cx, name),
            };
            if !means_it {
                let message = format!("the intrinsic `{intrinsic}` uses `{name}`, which something else is named here");
                return Err(Diagnostic::error(message).with_help("give that another name"));
            }
        }
        Ok(format!("@{}\n{}\n", self.file.import("intrinsic"), intrinsic.source))
    }
}
