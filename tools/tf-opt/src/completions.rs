//! `--completions`: scripts for shells.

use std::fmt::Write;

use tf_framework::PassRegistry;

use crate::args::{OptionRow, Takes, rows};

/// The script.
pub fn script(shell: &str, program: &str, passes: &PassRegistry) -> String {
    let names: Vec<_> = passes.iter().map(|entry| entry.name).collect();
    match shell {
        "bash" => bash(program, &names.join(" ")),
        "zsh" => zsh(program, &names.join(" ")),
        _ => fish(program, &names.join(" ")),
    }
}

/// The words that may follow an option.
fn words(row: &OptionRow, passes: &str) -> String {
    match row.takes {
        Takes::Flag => "true false".to_owned(),
        Takes::Words(words) | Takes::Maybe(words) => words.join(" "),
        Takes::Pass(_) => passes.to_owned(),
        Takes::Value(_) if row.name == "pipeline" => passes.to_owned(),
        Takes::Nothing | Takes::Value(_) | Takes::Path(_) => String::new(),
    }
}

fn bash(program: &str, passes: &str) -> String {
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
  # Of a list or a pipeline the last name is completed.
  local before=${{word%\"${{word##*[,(]}}\"}}
  if [ -n \"$words\" ]; then
    COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- \"${{word##*[,(]}}\"))
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

fn zsh(program: &str, passes: &str) -> String {
    let mut out = format!("#compdef {program}\n_arguments \\\n");
    for row in rows() {
        let help = row.help.replace('\'', "").replace('[', "(").replace(']', ")").replace(':', "\\:");
        let name = row.name;
        let repeat = if name == "load-pass-plugin" { "*" } else { "" };
        let line = match row.takes {
            Takes::Nothing | Takes::Flag => format!("{repeat}--{name}[{help}]"),
            Takes::Path(what) => format!("{repeat}--{name}=[{help}]:{what}:_files"),
            Takes::Maybe(words) => format!("--{name}=-[{help}]::form:({})", words.join(" ")),
            Takes::Words(_) | Takes::Pass(_) | Takes::Value(_) => {
                format!("--{name}=[{help}]:value:({})", words(row, passes))
            }
        };
        let _ = writeln!(out, "  '{line}' \\");
    }
    out.push_str("  '*:input:_files -g \"*.(py|tfir)\"'\n");
    out
}

fn fish(program: &str, passes: &str) -> String {
    let mut out = String::new();
    for row in rows() {
        let help = row.help.replace('\'', "");
        let words = words(row, passes);
        let takes = match row.takes {
            Takes::Nothing | Takes::Flag | Takes::Maybe(_) => String::new(),
            Takes::Path(_) => " -r".to_owned(),
            Takes::Words(_) | Takes::Pass(_) | Takes::Value(_) => format!(" -x -a '{words}'"),
        };
        let _ = writeln!(out, "complete -c {program} -l {}{takes} -d '{help}'", row.name);
    }
    out
}
