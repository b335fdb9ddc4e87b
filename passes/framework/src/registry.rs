//! The passes and named pipelines of a driver.

use std::collections::BTreeMap;

use crate::guarded::Guarded;
use crate::pass::{AnyPass, Over, summary};
use crate::text::{Argument, OptionText, Spanned};
use crate::{
    AnyFunctionPass, FunctionPass, OptionDecl, OptionError, OptionKind, OptionValue, Pass, PassInfo, PrimFuncPass,
};
use tf_core::guard::guard;

type Make = Box<dyn Fn() -> AnyPass + Send + Sync>;
type Expand = Box<dyn Fn(&Options) -> Result<String, OptionError> + Send + Sync>;

/// A rewrite pattern, as help shows it.
pub struct PatternHelp {
    /// Its name in remarks.
    pub name: String,
    /// What it does, on one line.
    pub doc: String,
}

/// A registered name.
pub struct Entry {
    /// The name in pipeline text.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Its options.
    pub options: &'static [OptionDecl],
    /// What a pass counts.
    pub statistics: &'static [&'static str],
    /// Passes that must stand earlier in the pipeline.
    pub requires: &'static [&'static str],
    /// Rewrite patterns that it applies.
    pub patterns: Vec<PatternHelp>,
    pub(crate) kind: EntryKind,
}

pub(crate) enum EntryKind {
    Pass { make: Make, over: &'static str },
    Pipeline(Expand),
}

impl Entry {
    /// The first paragraph of the documentation, on one line.
    #[must_use]
    pub fn summary(&self) -> String {
        summary(self.doc)
    }

    /// `module pass`, `function pass`, `HIR function pass`, `TIR function pass` or `pipeline`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.kind {
            EntryKind::Pass { over, .. } => over,
            EntryKind::Pipeline(_) => "pipeline",
        }
    }

    /// The help text: kind, documentation, options with their defaults, statistics.
    #[must_use]
    pub fn help(&self) -> String {
        let mut out = format!("{} ({})\n\n", self.name, self.kind());
        for line in self.doc.lines() {
            out.push_str(&format!("  {line}\n"));
        }
        if !self.options.is_empty() {
            out.push_str("\nOptions:\n");
        }
        for option in self.options {
            let value = match (option.default, option.required) {
                (Some(default), _) => format!(" (default {default})"),
                (None, true) => " (required)".to_owned(),
                (None, false) => String::new(),
            };
            out.push_str(&format!("  {}{value}\n", option.usage()));
            for line in option.doc.lines() {
                out.push_str(&format!("      {line}\n"));
            }
        }
        if !self.patterns.is_empty() {
            out.push_str("\nPatterns:\n");
        }
        for pattern in &self.patterns {
            out.push_str(&format!("  {}\n      {}\n", pattern.name, pattern.doc));
        }
        if !self.requires.is_empty() {
            out.push_str(&format!("\nRequires earlier in the pipeline: {}\n", self.requires.join(", ")));
        }
        if !self.statistics.is_empty() {
            out.push_str(&format!("\nStatistics: {}\n", self.statistics.join(", ")));
        }
        out
    }
}

/// The options that a named pipeline was given.
pub struct Options {
    pub(crate) decls: &'static [OptionDecl],
    pub(crate) values: Vec<Option<Vec<String>>>,
}

impl Options {
    fn index(&self, name: &str) -> usize {
        let at = self.decls.iter().position(|d| d.name == name);
        at.unwrap_or_else(|| panic!("the pipeline declares no option `{name}`"))
    }

    fn parts(&self, name: &str) -> Option<Vec<String>> {
        let at = self.index(name);
        let default = || self.decls[at].default.map(|text| text.split(',').map(str::to_owned).collect());
        self.values[at].clone().or_else(default)
    }

    /// The value of a declared option; its default, or the type's initial value, where it is left out.
    ///
    /// # Errors
    /// The text is no value of `T`.
    pub fn get<T: OptionValue>(&self, name: &'static str) -> Result<T, OptionError> {
        let Some(parts) = self.parts(name) else { return Ok(T::initial()) };
        T::parse(&parts).map_err(|message| OptionError { option: name, message, help: None, missing: false })
    }

    /// ` name=value` to hand the option on to a pass of the expansion; nothing where it has no value.
    #[must_use]
    pub fn forward(&self, name: &'static str) -> String {
        match self.parts(name) {
            None => String::new(),
            Some(parts) => {
                if self.decls[self.index(name)].kind == OptionKind::Pipeline {
                    return format!(" {name}={{{}}}", parts.join(","));
                }
                let value = Some(Spanned::made(Argument::Parts(parts)));
                format!(" {}", OptionText { name: Spanned::made(name.to_owned()), value })
            }
        }
    }
}

/// All passes and named pipelines of a driver, by name.
#[derive(Default)]
pub struct PassRegistry {
    entries: BTreeMap<&'static str, Entry>,
    mistakes: Vec<String>,
}

impl PassRegistry {
    fn add(&mut self, entry: Entry) {
        let name = entry.name;
        if matches!(name, "module" | "func" | "prim-func") {
            self.mistakes.push(format!("`{name}` is an anchor and cannot name a pass"));
        }
        let with_default = |o: &&OptionDecl| o.kind == OptionKind::Pipeline && o.default.is_some();
        for option in entry.options.iter().filter(with_default) {
            self.mistakes.push(format!("option `{}` of `{name}` is a pipeline and cannot have a default", option.name));
        }
        if self.entries.insert(name, entry).is_some() {
            self.mistakes.push(format!("pass `{name}` is registered twice"));
        }
    }

    fn pass<P>(&mut self, prototype: P, over: &'static str, wrap: fn(P) -> AnyPass)
    where
        P: PassInfo + Clone + 'static,
    {
        let decl = prototype.decl();
        let make = Box::new(move || wrap(prototype.clone()));
        self.add(Entry {
            name: decl.name,
            doc: decl.doc,
            options: decl.options,
            statistics: decl.statistics,
            requires: decl.requires,
            patterns: Vec::new(),
            kind: EntryKind::Pass { make, over },
        });
    }

    /// Adds to the help of a registered pass the patterns that it applies: names, each with its documentation.
    pub fn applies(&mut self, name: &str, patterns: impl IntoIterator<Item = (String, &'static str)>) {
        match self.entries.get_mut(name) {
            Some(entry) => {
                entry.patterns.extend(patterns.into_iter().map(|(name, doc)| PatternHelp { name, doc: summary(doc) }));
            }
            None => self.mistakes.push(format!("`{name}` has patterns and is no pass")),
        }
    }

    /// Adds a pass over modules. Pipelines get clones of the prototype with their options set.
    pub fn module_pass<P: Pass + Clone + 'static>(&mut self, prototype: P) {
        self.pass(prototype, "module pass", |p| AnyPass::Module(Box::new(Guarded(p))));
    }

    /// Adds a pass over functions of both IRs.
    pub fn any_function_pass<P: AnyFunctionPass + Clone + 'static>(&mut self, prototype: P) {
        self.pass(prototype, "function pass", |p| AnyPass::AnyFunction(Box::new(Guarded(p)), Over::All));
    }

    /// Adds a pass over HIR functions.
    pub fn function_pass<P: FunctionPass + Clone + 'static>(&mut self, prototype: P) {
        self.pass(prototype, "HIR function pass", |p| AnyPass::Function(Box::new(Guarded(p))));
    }

    /// Adds a pass over TIR functions.
    pub fn prim_func_pass<P: PrimFuncPass + Clone + 'static>(&mut self, prototype: P) {
        self.pass(prototype, "TIR function pass", |p| AnyPass::PrimFunc(Box::new(Guarded(p))));
    }

    /// Adds a name for pipeline text that depends on options; see [`Options::forward`].
    pub fn pipeline(
        &mut self,
        name: &'static str,
        doc: &'static str,
        options: &'static [OptionDecl],
        expand: impl Fn(&Options) -> Result<String, OptionError> + Send + Sync + 'static,
    ) {
        let expand = move |given: &Options| {
            guard(|| expand(given)).unwrap_or_else(|panic| {
                let option = options.first().map_or("", |option| option.name);
                let message = format!("the expansion panicked: {}", panic.message);
                Err(OptionError { option, message, help: None, missing: false })
            })
        };
        self.add(Entry {
            name,
            doc,
            options,
            statistics: &[],
            requires: &[],
            patterns: Vec::new(),
            kind: EntryKind::Pipeline(Box::new(expand)),
        });
    }

    /// The entry of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// All entries by name.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Mistakes of whoever registered: two passes of one name, the name of an anchor, a pipeline with a default.
    #[must_use]
    pub fn mistakes(&self) -> &[String] {
        &self.mistakes
    }
}

/// Checks a value against what the option accepts.
pub(crate) fn check_kind(kind: OptionKind, parts: &[String]) -> Result<(), String> {
    match kind {
        OptionKind::Flag => bool::parse(parts).map(drop),
        OptionKind::Integer => i64::parse(parts).map(drop),
        OptionKind::Text => String::parse(parts).map(drop),
        OptionKind::List | OptionKind::Pipeline => Ok(()),
        OptionKind::Word(words) => match crate::option::single(parts)? {
            word if words.contains(&word) => Ok(()),
            other => Err(crate::option::unknown_word(other, words)),
        },
    }
}
