//! The program `aforo`.

use std::process::ExitCode;

fn main() -> ExitCode {
    aforo_server::run()
}
