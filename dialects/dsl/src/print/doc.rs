//! Text that breaks at brackets as Python's formatters break it: what fits stays on one line; else the contents of the
//! last bracket go on a line of their own, or on one line each.

/// Columns of a line.
pub(super) const WIDTH: usize = 100;
/// Columns that a block is indented by.
pub(super) const STEP: usize = 4;

/// A piece of code without line breaks of its own.
#[derive(Clone, Debug)]
pub(super) enum Doc {
    Text(String),
    Group(Group),
    Seq(Vec<Doc>),
}

/// Items in brackets.
#[derive(Clone, Debug)]
pub(super) struct Group {
    brackets: [char; 2],
    items: Vec<Doc>,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Arguments and subscripts, which may share a line of their own.
    Arguments,
    /// A tuple or set, whose items do not share a line unless all of it fits.
    Display,
    /// A tuple of one item, which has a comma.
    Single,
}

impl From<&str> for Doc {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Doc {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Doc {
    /// `name(items)`
    pub(super) fn call(name: impl Into<Doc>, items: Vec<Doc>) -> Self {
        Self::Seq(vec![name.into(), Self::arguments(['(', ')'], items)])
    }

    /// `name[items]`
    pub(super) fn subscript(name: impl Into<Doc>, items: Vec<Doc>) -> Self {
        Self::Seq(vec![name.into(), Self::arguments(['[', ']'], items)])
    }

    fn arguments(brackets: [char; 2], items: Vec<Doc>) -> Self {
        Self::Group(Group { brackets, items, form: Form::Arguments })
    }

    /// `(items)`, with a comma after a single one.
    pub(super) fn tuple(items: Vec<Doc>) -> Self {
        let form = if items.len() == 1 { Form::Single } else { Form::Display };
        Self::Group(Group { brackets: ['(', ')'], items, form })
    }

    /// `{items}`
    pub(super) fn set(items: Vec<Doc>) -> Self {
        Self::Group(Group { brackets: ['{', '}'], items, form: Form::Display })
    }

    /// `name=value`
    pub(super) fn keyword(name: &str, value: Doc) -> Self {
        Self::Seq(vec![Self::Text(format!("{name}=")), value])
    }

    fn width(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Seq(parts) => parts.iter().map(Self::width).sum(),
            Self::Group(group) => 2 + group.width() + usize::from(group.form == Form::Single),
        }
    }

    /// All of it on one line.
    pub(super) fn flat(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Seq(parts) => parts.iter().for_each(|part| part.flat(out)),
            Self::Group(group) => {
                out.push(group.brackets[0]);
                group.flat(out);
                if group.form == Form::Single {
                    out.push(',');
                }
                out.push(group.brackets[1]);
            }
        }
    }

    /// Writes it from `column` on in a block indented by `indent`; `after` columns follow it on its last line.
    pub(super) fn write(&self, out: &mut String, indent: usize, column: usize, after: usize) {
        if column + self.width() + after <= WIDTH || !self.has_break() {
            return self.flat(out);
        }
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Group(group) => group.write_broken(out, indent),
            Self::Seq(parts) => {
                let last = parts.iter().rposition(Self::has_break).unwrap_or(0);
                for (at, part) in parts.iter().enumerate() {
                    if at == last {
                        part.break_last(out, indent);
                    } else {
                        part.flat(out);
                    }
                }
            }
        }
    }

    fn break_last(&self, out: &mut String, indent: usize) {
        // It does not fit wherever it begins.
        self.write(out, indent, WIDTH, 1);
    }

    fn has_break(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Seq(parts) => parts.iter().any(Self::has_break),
            Self::Group(group) => !group.items.is_empty(),
        }
    }
}

impl Group {
    /// Columns between the brackets.
    fn width(&self) -> usize {
        self.items.iter().map(Doc::width).sum::<usize>() + 2 * self.items.len().saturating_sub(1)
    }

    fn flat(&self, out: &mut String) {
        for (at, item) in self.items.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            item.flat(out);
        }
    }

    fn write_broken(&self, out: &mut String, indent: usize) {
        let inner = indent + STEP;
        out.push(self.brackets[0]);
        if self.form == Form::Arguments && inner + self.width() <= WIDTH {
            new_line(out, inner);
            self.flat(out);
        } else {
            for item in &self.items {
                new_line(out, inner);
                item.write(out, inner, inner, 1);
                out.push(',');
            }
        }
        new_line(out, indent);
        out.push(self.brackets[1]);
    }
}

/// Starts a line.
pub(super) fn new_line(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use super::Doc;

    fn written(doc: &Doc) -> String {
        let mut out = String::new();
        doc.write(&mut out, 0, 0, 0);
        out
    }

    #[test]
    fn what_fits_stays_on_one_line() {
        let single = Doc::tuple(vec!["4".into()]);
        let call = Doc::call("f", vec![single, Doc::keyword("axes", Doc::tuple(vec!["0".into(), "1".into()]))]);
        assert_eq!(written(&call), "f((4,), axes=(0, 1))");
        assert_eq!(written(&Doc::call("f", Vec::new())), "f()");
    }

    #[test]
    fn arguments_may_share_a_line_and_items_of_a_tuple_may_not() {
        let long = |letter: &str, count: usize| Doc::from(letter.repeat(count));
        let call = Doc::call("call_of", vec![long("a", 45), long("b", 45)]);
        assert_eq!(written(&call), format!("call_of(\n    {}, {}\n)", "a".repeat(45), "b".repeat(45)));
        let tuple = Doc::tuple(vec![long("a", 50), long("b", 50)]);
        assert_eq!(written(&tuple), format!("(\n    {},\n    {},\n)", "a".repeat(50), "b".repeat(50)));
        let inner = Doc::keyword("k", Doc::call("g", vec![long("b", 96)]));
        let nested = Doc::call("f", vec![long("a", 60), inner]);
        let want = format!("f(\n    {},\n    k=g(\n        {},\n    ),\n)", "a".repeat(60), "b".repeat(96));
        assert_eq!(written(&nested), want);
    }
}
