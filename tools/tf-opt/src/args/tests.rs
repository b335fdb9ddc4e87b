//! The command line as it is read.

use super::{Args, Color, Language, Request, rows};
use crate::error::Stop;
use crate::options::Takes;

fn parse(words: &[&str]) -> Result<Args, String> {
    let mut parser = lexopt::Parser::from_args(words);
    Args::parse(&mut parser).map_err(|stop| match stop {
        Stop::Said(message) => message,
        Stop::Reported => "reported".to_owned(),
    })
}

#[test]
fn options_and_files() {
    let args =
        parse(&["-", "--input=dsl", "--pipeline", "a,b", "-oX", "b.py", "--print-ir-after=a,b", "--verify-each=false"]);
    let args = args.unwrap();
    assert_eq!(
        (args.files.as_slice(), args.language),
        (["-".to_owned(), "b.py".to_owned()].as_slice(), Some(Language::Dsl))
    );
    assert_eq!((args.pipeline.as_deref(), args.output.as_deref()), (Some("a,b"), Some("X")));
    assert_eq!((args.print.after.len(), args.verify_each, args.request), (2, false, Request::Run));
    let args = parse(&[
        "--timing",
        "--color=never",
        "--remarks=missed,analysis",
        "--load-pass-plugin=a",
        "--load-pass-plugin=b",
    ]);
    let args = args.unwrap();
    assert_eq!(
        (args.color, args.plugins.len(), args.remarks.missed, args.remarks.analysis, args.remarks.applied),
        (Color::Never, 2, true, true, false)
    );
}

#[test]
fn every_row_of_the_table_is_an_option() {
    for row in rows() {
        let option = match row.takes {
            Takes::Flag | Takes::Nothing | Takes::Maybe(_) | Takes::MaybeValue(_) => format!("--{}", row.name),
            Takes::Words(words) => format!("--{}={}", row.name, words[0]),
            Takes::Value(_) | Takes::Path(_) | Takes::Pass(_) => format!("--{}=1", row.name),
        };
        assert!(parse(&[&option]).is_ok(), "{option}");
    }
}

#[test]
fn refusals() {
    let of = |words: &[&str]| parse(words).unwrap_err();
    assert_eq!(of(&["--pipelin=a"]), "unknown option `--pipelin`; did you mean `--pipeline`?");
    assert_eq!(of(&["-x"]), "unknown option `-x`; `--help` lists all options");
    assert_eq!(of(&["--threads=0"]), "`--threads` is a number from 1 to 1024, found `0`");
    assert_eq!(of(&["--pass-time-limit=x"]), "`--pass-time-limit` is a number from 1 to 10000000, found `x`");
    assert_eq!(of(&["--input=c"]), "`--input` is dsl or tfir, found `c`");
    assert_eq!(of(&["--timing=xml"]), "`--timing` is tree or flat or json, found `xml`");
    assert_eq!(of(&["--remarks=missed,x"]), "`--remarks` is all or applied or missed or analysis, found `x`");
    assert_eq!(
        of(&["--check-each=0"]),
        "`--check-each` is a number of generated inputs from 1 to 10000, or a tensor file, found `0`"
    );
    assert_eq!(of(&["--stats=maybe"]), "`--stats` is true or false, found `maybe`");
}
