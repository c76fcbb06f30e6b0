//! Log lines, on standard error: standard output belongs to what a command answers.

use std::io::IsTerminal;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Starts logging. `RUST_LOG` wins over `verbose`; a second start changes nothing.
pub fn start(format: LogFormat, verbose: u8) {
    let default = match verbose {
        0 => "warn,aforo=info",
        1 => "info,aforo=debug",
        _ => "debug,aforo=trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let colours = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_target(false)
        .with_ansi(colours)
        .with_writer(std::io::stderr);
    let _ = match format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).try_init(),
    };
}
