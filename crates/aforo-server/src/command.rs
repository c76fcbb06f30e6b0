//! The commands, one file each: what was typed becomes what it means there, before anything touches the world.

use std::io::Write;
use std::process::ExitCode;

use aforo_policy::Mistakes;
use clap::{Args, Parser, Subcommand};

use crate::log::LogFormat;

mod check;
mod demo;
mod doctor;
mod explain;
mod live;
mod report;
mod schema;
mod serve;
mod source;

pub(crate) use report::{mistakes_json, rules_json};

/// How a command ended badly; what it says tells what is wrong, where, and what would be right.
#[derive(Debug)]
pub enum Failure {
    /// The input is at fault: exit status 1.
    Input(String),
    /// A policy file is at fault, here are its mistakes: exit status 1.
    Policy(Mistakes),
    /// The call is at fault: exit status 2.
    Usage(String),
    /// The same, and what was printed has said so already.
    InputSaid,
    /// aforo is at fault: exit status 70.
    Internal(String),
}

impl Failure {
    /// The exit status, as `sysexits.h` has it for the last.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Input(_) | Failure::Policy(_) | Failure::InputSaid => ExitCode::from(1),
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Internal(_) => ExitCode::from(70),
        }
    }

    /// The text for the person who called; `None` if there is no more to say.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::Input(message) | Failure::Usage(message) | Failure::Internal(message) => {
                Some(format!("aforo: {message}"))
            }
            // Each begins with its place, where editors look for it.
            Failure::Policy(mistakes) => {
                let count = match mistakes.iter().count() {
                    1 => "1 mistake".to_owned(),
                    many => format!("{many} mistakes"),
                };
                Some(format!("{mistakes}\n\naforo: {}: {count}", mistakes.file()))
            }
            Failure::InputSaid => None,
        }
    }
}

/// Rate limiting for any API: a gateway in front of it, one policy file, exact counting.
#[derive(Debug, Parser)]
#[command(name = "aforo", version, max_term_width = 100, after_help = "Try it: aforo demo")]
pub struct Call {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    logging: Logging,
}

#[derive(Debug, Args)]
struct Logging {
    /// How log lines are written.
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, value_name = "FORMAT")]
    log_format: LogFormat,
    /// Log more; twice for everything. RUST_LOG says it more finely.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Demo),
    Serve(serve::Serve),
    Check(check::Check),
    Explain(explain::Explain),
    Doctor(doctor::Doctor),
    Schema(schema::Schema),
}

/// Prints what a command answers. Whoever has stopped reading wants no more; where it cannot be written otherwise, the
/// command has failed.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Input(format!("the answer cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

impl Call {
    /// Runs the command to its end.
    pub fn run(self) -> Result<(), Failure> {
        crate::log::start(self.logging.log_format, self.logging.verbose);
        match self.command {
            Command::Demo(demo) => demo.run(),
            Command::Serve(serve) => serve.run(),
            Command::Check(check) => check.run(),
            Command::Explain(explain) => explain.run(),
            Command::Doctor(doctor) => doctor.run(),
            Command::Schema(schema) => schema.run(),
        }
    }
}
