//! Which policy a command reads.

use std::path::{Path, PathBuf};

use super::Failure;
use crate::reload::Source;

/// The policy that is read where none is named, if it is there.
const DEFAULT: &str = "aforo.yaml";

/// The policy of a gateway of which only the upstream is known.
const UPSTREAM_ALONE: &str = "rules:\n  client: { quota: 20/s, burst: 100, per: client }\n";

/// The file that was named, else `aforo.yaml` here.
pub(super) fn named_or_default(named: Option<PathBuf>) -> Result<Source, Failure> {
    match named {
        Some(path) => Ok(Source::File(path)),
        None if Path::new(DEFAULT).exists() => Ok(Source::File(DEFAULT.into())),
        None => Err(Failure::Usage(format!("no policy: name a file, or put one here as {DEFAULT}"))),
    }
}

/// The same, or the built-in policy where an upstream is all that is known.
pub(super) fn for_gateway(named: Option<PathBuf>, upstream_is_known: bool) -> Result<Source, Failure> {
    match named_or_default(named) {
        Err(Failure::Usage(_)) if upstream_is_known => {
            Ok(Source::BuiltIn { name: "built-in policy", text: UPSTREAM_ALONE.to_owned() })
        }
        Err(Failure::Usage(_)) => Err(Failure::Usage(format!(
            "nothing to serve: name a policy by --config FILE (or put one here as {DEFAULT}), or an API by --upstream URL"
        ))),
        source => source,
    }
}
