//! `--completions`: scripts for shells.

use std::fmt::Write;

use tf_framework::{OptionDecl, OptionKind, PassRegistry};

use crate::args::rows;
use crate::options::{OptionRow, Takes};

/// The script.
pub fn script(shell: &str, program: &str, passes: &PassRegistry) -> String {
    match shell {
        "bash" => bash(program, passes),
        "zsh" => zsh(program, passes),
        _ => fish(program, passes),
    }
}

fn names(passes: &PassRegistry) -> String {
    passes.iter().map(|entry| entry.name).collect::<Vec<_>>().join(" ")
}

/// Whether passes with commas between may follow.
fn is_list(row: &OptionRow) -> bool {
    row.name == "pipeline" || matches!(row.takes, Takes::Pass(what) if what.contains(','))
}

/// The words that may follow an option.
fn words(row: &OptionRow, passes: &str) -> String {
    match row.takes {
        Takes::Flag => "true false".to_owned(),
        Takes::Words(words) | Takes::Maybe(words) => words.join(" "),
        Takes::Pass(_) => passes.to_owned(),
        Takes::Value(_) if row.name == "pipeline" => passes.to_owned(),
        Takes::Nothing | Takes::Value(_) | Takes::MaybeValue(_) | Takes::Path(_) => String::new(),
    }
}

fn bash(program: &str, passes: &PassRegistry) -> String {
    let mut options_of = String::new();
    for entry in passes.iter().filter(|entry| !entry.options.is_empty()) {
        let word = |option: &OptionDecl| match option.kind {
            OptionKind::Flag => option.name.to_owned(),
            _ => format!("{}=", option.name),
        };
        let words: Vec<_> = entry.options.iter().map(word).collect();
        let _ = writeln!(options_of, "      {}) words='{}' ;;", entry.name, words.join(" "));
    }
    let passes = &names(passes);
    let function = format!("_{}", program.replace('-', "_"));
    let mut cases = String::new();
    for row in rows() {
        let words = words(row, passes);
        if !words.is_empty() {
            let _ = writeln!(cases, "    --{}) words='{words}' ;;", row.name);
        }
    }
    let options: Vec<_> = rows().map(|row| format!("--{}", row.name)).collect();
    format!(
        "\
{function}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD-1]}} words=
  [ \"$option\" = = ] && option=${{COMP_WORDS[COMP_CWORD-2]}}
  [ \"$word\" = = ] && option=${{COMP_WORDS[COMP_CWORD-1]}} word=
  case $option in
{cases}  esac
  # Of a list or a pipeline the last name is completed, after a brace an option of the pass before it.
  local last=${{word##*[,(]}}
  if [[ $option == --pipeline && $last == *{{* ]]; then
    case ${{last%%{{*}} in
{options_of}      *) words= ;;
    esac
    last=${{last##*{{}}
  fi
  local before=${{word%\"$last\"}}
  if [ -n \"$words\" ]; then
    COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- \"$last\"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W '{options}' -- \"$word\"))
  else
    COMPREPLY=($(compgen -f -- \"$word\"))
  fi
}}
complete -o filenames -F {function} {program}
",
        options = options.join(" ")
    )
}

fn zsh(program: &str, passes: &PassRegistry) -> String {
    let names = names(passes);
    let mut out = format!("#compdef {program}\n_arguments \\\n");
    for row in rows() {
        let help = row.help.replace('\'', "").replace('[', "(").replace(']', ")").replace(':', "\\:");
        let name = row.name;
        let repeat = if name == "load-pass-plugin" { "*" } else { "" };
        let line = match row.takes {
            Takes::Nothing | Takes::Flag => format!("{repeat}--{name}[{help}]"),
            Takes::Path(what) => format!("{repeat}--{name}=[{help}]:{what}:_files"),
            Takes::Maybe(words) => format!("--{name}=-[{help}]::form:({})", words.join(" ")),
            Takes::MaybeValue(what) => format!("--{name}=-[{help}]::{what}:_files"),
            _ if is_list(row) => format!("--{name}=[{help}]:passes:_values -s , pass {names}"),
            Takes::Words(_) | Takes::Pass(_) | Takes::Value(_) => {
                format!("--{name}=[{help}]:value:({})", words(row, &names))
            }
        };
        let _ = writeln!(out, "  '{line}' \\");
    }
    out.push_str("  '*:input:_files -g \"*.(py|tfir)\"'\n");
    out
}

fn fish(program: &str, passes: &PassRegistry) -> String {
    let names = names(passes);
    let mut out = String::new();
    for row in rows() {
        let help = row.help.replace('\'', "");
        let words = words(row, &names);
        let takes = match row.takes {
            Takes::Nothing | Takes::Flag | Takes::MaybeValue(_) => String::new(),
            Takes::Path(_) => " -r".to_owned(),
            _ if is_list(row) => format!(" -x -a '(__fish_append , {words})'"),
            Takes::Maybe(_) => format!(" -f -a '{words}'"),
            Takes::Words(_) | Takes::Pass(_) | Takes::Value(_) => format!(" -x -a '{words}'"),
        };
        let _ = writeln!(out, "complete -c {program} -l {}{takes} -d '{help}'", row.name);
    }
    out
}
