//! Calls: one run of the script, ready to be sent.

use std::sync::Arc;

use redis::Cmd;

/// One run of the script. It is built once; which server it goes to is decided by its slot.
#[derive(Debug)]
pub(crate) struct Call {
    script: Arc<str>,
    by_digest: Cmd,
    slot: u16,
}

impl Call {
    /// A call of `script`, whose digest and arguments `by_digest` sends (EVALSHA), on keys of that slot.
    pub(crate) fn new(script: Arc<str>, by_digest: Cmd, slot: u16) -> Call {
        Call { script, by_digest, slot }
    }

    /// The command that names the script by its digest.
    pub(crate) fn by_digest(&self) -> &Cmd {
        &self.by_digest
    }

    /// The command that brings the script along: for a server that answers NOSCRIPT, which then knows it.
    pub(crate) fn in_full(&self) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(&*self.script);
        let arguments = self.by_digest.args_iter().skip(2);
        for argument in arguments {
            if let redis::Arg::Simple(bytes) = argument {
                command.arg(bytes);
            }
        }
        command
    }

    /// The slot of Redis Cluster that its keys lie in.
    pub(crate) fn slot(&self) -> u16 {
        self.slot
    }
}
