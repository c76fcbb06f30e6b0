//! `aforo schema`

use clap::Args;

use super::{Failure, say};

/// Print the JSON Schema of the policy file.
///
/// Editors complete and examine a policy by it: aforo schema > aforo.schema.json, and in the policy's first line
/// `# yaml-language-server: $schema=aforo.schema.json`.
#[derive(Debug, Args)]
#[command(after_help = "Example: aforo schema > aforo.schema.json")]
pub(super) struct Schema {}

impl Schema {
    pub(super) fn run(self) -> Result<(), Failure> {
        let schema = serde_json::to_string_pretty(&aforo_policy::schema());
        say(&format!("{}\n", schema.map_err(|error| Failure::Internal(error.to_string()))?))
    }
}
