//! Writes the vocabulary of `cl100k_base` to `OUT_DIR`, as the file that the criteria pin by its SHA-256.
//!
//! The vocabulary is data of others and no part of this repository: the crate tiktoken-rs carries it.

use std::fmt::Write;
use std::{env, fs, path::PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

/// The SHA-256 in `token-efficiency/v1`, `tokenizer.data_sha256`. `src/profile/tokens` checks it again at start.
const DATA_SHA256: &str = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7";
/// Ranks 0 up to this one; the ids above are special tokens, which the criteria do not know.
const TOKENS: u32 = 100_256;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let encoding = tiktoken_rs::cl100k_base()?;
    let mut file = String::new();
    for rank in 0..TOKENS {
        let token = encoding.decode_bytes(&[rank]).map_err(|_| format!("tiktoken-rs has no token {rank}"))?;
        writeln!(file, "{} {rank}", STANDARD.encode(token))?;
    }
    let hash = Sha256::digest(&file).iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    if hash != DATA_SHA256 {
        return Err(format!("cl100k_base of tiktoken-rs has the hash {hash}, not {DATA_SHA256}").into());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(out.join("cl100k_base.tiktoken"), file)?;
    Ok(())
}
