//! The `millwork-dock` command.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run().into()
}
