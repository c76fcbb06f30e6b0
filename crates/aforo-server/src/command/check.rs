//! `aforo check`

use std::path::PathBuf;

use aforo_policy::File;
use clap::Args;
use serde_json::{Value, json};

use super::{Failure, report, say, source};
use crate::reload::Source;
use crate::serving::{self, Overrides};

/// Examine a policy as serve would, without opening a port.
///
/// Prints each rule with its worst case, and warnings; lists all mistakes. Ends with status 1 if there is one.
#[derive(Debug, Args)]
#[command(after_help = "Example: aforo check aforo.yaml")]
pub(super) struct Check {
    /// The policy file [default: aforo.yaml]. A file with rules and routes alone will do.
    file: Option<PathBuf>,
    /// Answer as JSON.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self) -> Result<(), Failure> {
        let source = source::named_or_default(self.file)?;
        let checked =
            source.read().and_then(|file| serving::examine(&file, &Overrides::default(), &source).map(|()| file));
        if self.json {
            say(&format!("{:#}\n", as_json(&source, &checked)))?;
            return checked.map(drop).map_err(|_| Failure::InputSaid);
        }
        say(&report::text(&source.name(), &checked?))
    }
}

fn as_json(source: &Source, checked: &Result<File, Failure>) -> Value {
    let name = source.name();
    match checked {
        Ok(file) => json!({
            "ok": true,
            "mistakes": [],
            "warnings": report::warnings_json(&name, &file.warnings),
            "rules": report::worst_cases_json(&file.policy),
        }),
        Err(failure) => {
            let mistakes = match failure {
                Failure::Policy(mistakes) => report::mistakes_json(mistakes),
                // A fault of the file as a whole, or of one that it names, has no place in it.
                other => {
                    let message = other.message().unwrap_or_default();
                    json!([{ "file": name, "line": null, "column": null, "message": message, "help": "" }])
                }
            };
            json!({ "ok": false, "mistakes": mistakes, "warnings": [], "rules": [] })
        }
    }
}
