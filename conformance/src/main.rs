//! The `dock-conformance` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    dock_conformance::cli::install_panic_hook();
    let variable = |name: &str| std::env::var(name).ok();
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    ExitCode::from(dock_conformance::cli::main(std::env::args_os(), &variable, &mut out, &mut err))
}
