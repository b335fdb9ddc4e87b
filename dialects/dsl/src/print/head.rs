//! The head of the file: imports, dim variables, meshes.

use std::fmt::Write;

use tf_core::Result;
use tf_types::Mesh;

use super::Printer;
use super::doc::{Doc, WIDTH};
use super::intrinsics::Declared;
use super::names::IMPORTS;
use super::python::string;
use super::survey::Survey;
use crate::names::plugin_dialects;

impl<'c> Printer<'_, 'c> {
    /// The whole file.
    pub(super) fn file(
        &mut self,
        survey: &Survey<'c>,
        meshes: &[Mesh<'c>],
        declared: &[Declared<'c>],
    ) -> Result<String> {
        let used: Vec<_> = meshes.iter().copied().filter(|&mesh| self.file.uses_mesh(mesh)).collect();
        let meshes = used.into_iter().map(|mesh| self.mesh_definition(mesh).map(|doc| definition(&doc)));
        let meshes = meshes.collect::<Result<Vec<_>>>()?;
        let used: Vec<_> = survey.vars.iter().copied().filter(|&var| self.file.uses_var(var)).collect();
        let vars = used.into_iter().map(|var| {
            let make = self.file.import("DimVar").to_owned();
            let name = string(var.name.as_str());
            format!("{} = {make}({name}, {}, {})\n", self.file.var(var), var.lo, var.hi)
        });
        let vars: Vec<String> = vars.collect();
        let intrinsics = declared.iter().map(|intrinsic| self.intrinsic(intrinsic)).collect::<Result<Vec<_>>>()?;
        let mut out = "from __future__ import annotations\n\n".to_owned();
        if declared.iter().any(Declared::uses_math) {
            out.push_str("import math\n\n");
        }
        for (module, names) in IMPORTS {
            let plugins = plugin_dialects(self.cx.ops()).filter(|_| *module == "tilefoundry.dsl");
            let names: Vec<_> =
                names.iter().copied().chain(plugins).filter_map(|name| self.file.imported(name)).collect();
            if !names.is_empty() {
                import(&mut out, module, &names);
            }
            if *module == "tilefoundry.target" && self.file.imported("func").is_some() {
                out.push_str("from tilefoundry.dsl.tf import *  # noqa: F401, F403\n");
            }
        }
        for block in [vars, meshes] {
            if !block.is_empty() {
                out.push('\n');
                block.iter().for_each(|line| out.push_str(line));
            }
        }
        for declaration in &intrinsics {
            let _ = write!(out, "\n\n{declaration}");
        }
        for class in &self.classes {
            let _ = write!(out, "\n{class}\n");
        }
        Ok(out)
    }
}

fn definition(doc: &Doc) -> String {
    let mut line = String::new();
    doc.write(&mut line, 0, 0, 0);
    line.push('\n');
    line
}

fn import(out: &mut String, module: &str, names: &[String]) {
    let list = names.join(", ");
    let line = format!("from {module} import {list}");
    if line.len() <= WIDTH {
        let _ = writeln!(out, "{line}");
    } else {
        let _ = writeln!(out, "from {module} import (\n    {},\n)", names.join(",\n    "));
    }
}
