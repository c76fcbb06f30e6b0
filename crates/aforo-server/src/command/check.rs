//! `aforo check`

use std::path::PathBuf;

use aforo_policy::File;
use clap::Args;
use serde_json::json;

use super::{Failure, report, source};

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
        let read = File::read_bytes(&source.name(), &source.bytes().map_err(Failure::Input)?, &|name| {
            std::env::var(name).ok()
        });
        if self.json {
            let (ok, answer) = match &read {
                Ok(file) => (
                    true,
                    json!({
                        "ok": true,
                        "mistakes": [],
                        "warnings": report::warnings_json(&source.name(), &file.warnings),
                        "rules": report::worst_cases_json(&file.policy),
                    }),
                ),
                Err(mistakes) => (
                    false,
                    json!({ "ok": false, "mistakes": report::mistakes_json(mistakes), "warnings": [], "rules": [] }),
                ),
            };
            println!("{answer:#}");
            return if ok { Ok(()) } else { Err(Failure::InputSaid) };
        }
        match read {
            Ok(file) => {
                print!("{}", report::text(&source.name(), &file));
                Ok(())
            }
            Err(mistakes) => Err(Failure::Policy(mistakes)),
        }
    }
}
