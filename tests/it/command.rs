//! Runs the program as its users do.

use std::io::Write;
use std::process::{Command, Stdio};

/// What a run ended with.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program with `input` as standard input, from the root of the repository.
pub(crate) fn run(arguments: &[&str], input: &str) -> Ran {
    run_with(arguments, input, &[])
}

/// The same with environment variables.
pub(crate) fn run_with(arguments: &[&str], input: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millwork-dock"));
    command.args(arguments).env_remove("MILLWORK_VERIFIER_KEYS").envs(variables.iter().copied());
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ran {
        status: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
