//! `key`: makes the keys of managed docks, and those that sign reports.

use super::{Exit, put, tell};
use clap::Subcommand;
use millwork_dock::config::KEY_PREFIX;
use millwork_dock::service::signing;
use std::fmt::Write as _;

/// What `key` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Keys that callers of a managed dock send
    #[command(subcommand)]
    Access(Access),
    /// Keys that sign the reports of published operations
    #[command(subcommand)]
    Signing(Signing),
}

/// What `key signing` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Signing {
    /// Print one new Ed25519 key as PEM; its public half goes to standard error
    New,
}

/// What `key access` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Access {
    /// Print one new key: 256 random bits, safe in URLs, headers and shells
    New,
}

/// The random bytes of a key.
const KEY_BYTES: usize = 32;

/// Does what `command` says.
pub(crate) fn run(command: &Command) -> Exit {
    match command {
        Command::Access(Access::New) => new_access_key(),
        Command::Signing(Signing::New) => new_signing_key(),
    }
}

fn new_signing_key() -> Exit {
    let (pem, public) = match signing::new_key() {
        Ok(made) => made,
        Err(error) => {
            tell(error);
            return Exit::Environment;
        }
    };
    let printed = put(&pem);
    if printed == Exit::Fine {
        tell(format_args!(
            "This key is shown once and stored nowhere. Keep it in a file that only the dock's user may read, and name that\n\
             file as signing.key. To change keys, name the new file and add the old one to signing.retired.\n\
             Its public half, as the key set publishes it:\n{}",
            public.jwk()
        ));
    }
    printed
}

fn new_access_key() -> Exit {
    let mut bytes = [0; KEY_BYTES];
    if let Err(error) = getrandom::fill(&mut bytes) {
        tell(format_args!("the system gives no random bytes: {error}"));
        return Exit::Environment;
    }
    let printed = put(format_args!("{}\n", key(&bytes)));
    if printed == Exit::Fine {
        tell(
            "This key is shown once and stored nowhere. Put it where keys_env or keys_file of the dock points, beside\n\
             the key in use if you are changing keys (one a line, or separated by commas). Give it to Millwork for\n\
             this dock. Remove the old key once calls arrive with the new one.",
        );
    }
    printed
}

/// Prefix and hexadecimal digits: nothing that a shell, a URL or a double click takes apart.
fn key(bytes: &[u8; KEY_BYTES]) -> String {
    bytes.iter().fold(KEY_PREFIX.to_owned(), |mut key, byte| {
        // Writing to a string never fails.
        let _ = write!(key, "{byte:02x}");
        key
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_spells_every_bit_out() {
        let mut bytes = [0; KEY_BYTES];
        bytes[0] = 0x0f;
        bytes[31] = 0xa0;
        assert_eq!(key(&bytes), format!("mwdock_0f{}a0", "00".repeat(30)));
    }
}
