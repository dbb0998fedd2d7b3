//! `report verify`: whether a signed report is what its issuer signed.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::{Args, Subcommand};
use millwork_dock::json::{Document, Value, write_value};
use millwork_dock::service::signing::PublicKey;
use millwork_dock::service::x402::facilitator::fetch;

use super::input::{Input, Trouble};
use super::{Exit, put, tell};

/// What `report` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Verify a signed report: its signature, and that `report` says what was signed
    Verify(VerifyArgs),
}

/// What `report verify` takes.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 verified, 1 not, 2 a file is no report or key set, 5 failure.

A key set is fetched over HTTPS with the system's root certificates; SSL_CERT_FILE names others. Whoever serves the key
set vouches for the report, so take it from the issuer and not from the report's sender.")]
pub(crate) struct VerifyArgs {
    /// The answer of a check or pre-check, as it came; - is standard input
    #[arg(value_name = "FILE")]
    report: Input,
    /// The issuer's key set: a file, or the URL of its /.well-known/jwks.json
    #[arg(long, value_name = "FILE|URL")]
    jwks: String,
}

/// Does what `command` says.
pub(crate) fn run(command: &Command) -> Exit {
    let Command::Verify(args) = command;
    match verify(args) {
        Ok(Verdict::Verified { kid, line }) => put(format_args!("verified: signed by {kid}\n{line}\n")),
        Ok(Verdict::Not(why)) => {
            super::check::worse(put(format_args!("not verified: {why}\n")), Exit::Negative)
        }
        Err(trouble) => {
            tell(format_args!("error: {trouble}"));
            trouble.exit()
        }
    }
}

enum Verdict {
    Verified { kid: String, line: String },
    Not(&'static str),
}

fn verify(args: &VerifyArgs) -> Result<Verdict, Trouble> {
    let answer = args.report.read_json()?;
    let no_report = || Trouble::Usage(format!("{} is no signed report: no {{report, jws}}", args.report));
    let jws = answer.root().get(b"jws").ok_or_else(no_report)?;
    let part = |name: &str| text(jws, name).ok_or_else(no_report);
    let (payload, protected, signature) = (part("payload")?, part("protected")?, part("signature")?);
    let report = answer.root().get(b"report").ok_or_else(no_report)?;
    let keys = key_set(&args.jwks)?;

    let header = URL_SAFE_NO_PAD.decode(&protected).ok().and_then(|header| Document::parse(header).ok());
    let Some(header) = header else { return Ok(Verdict::Not("its header is not JSON in base64url")) };
    if !matches!(text(header.root(), "alg").as_deref(), Some("EdDSA" | "Ed25519")) {
        return Ok(Verdict::Not("it is not signed by Ed25519"));
    }
    let Some(kid) = text(header.root(), "kid") else { return Ok(Verdict::Not("it does not name its key")) };
    let Some(key) = find_key(&keys, &kid) else { return Ok(Verdict::Not("its key is not in the key set")) };
    let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else {
        return Ok(Verdict::Not("its signature is not base64url"));
    };
    if !key.verifies(format!("{protected}.{payload}").as_bytes(), &signature) {
        return Ok(Verdict::Not("the signature does not hold"));
    }
    let signed = URL_SAFE_NO_PAD.decode(payload).ok().and_then(|payload| Document::parse(payload).ok());
    let Some(signed) = signed else { return Ok(Verdict::Not("what was signed is not JSON")) };
    // White space aside, to the last digit: 1.5 is not 1.50 here.
    if written(signed.root()) != written(report) {
        return Ok(Verdict::Not("`report` says something else than what was signed"));
    }
    let line = ["verdict_line", "assessability"].iter().find_map(|name| text(signed.root(), name));
    Ok(Verdict::Verified { kid, line: line.unwrap_or_default() })
}

fn written(value: Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(value, &mut out);
    out
}

/// The key of that name, whose name is its own thumbprint.
fn find_key(keys: &Document, kid: &str) -> Option<PublicKey> {
    let keys = keys.root().get(b"keys")?.items();
    keys.filter(|key| text(*key, "kid").as_deref() == Some(kid)).find_map(|key| {
        let is_ed25519 =
            text(key, "kty").as_deref() == Some("OKP") && text(key, "crv").as_deref() == Some("Ed25519");
        text(key, "x").filter(|_| is_ed25519).and_then(|x| PublicKey::from_jwk_x(&x))
    })
}

/// Reads or fetches a key set.
fn key_set(place: &str) -> Result<Document, Trouble> {
    if !place.starts_with("https://") && !place.starts_with("http://") {
        let file: Input = place.parse().unwrap_or(Input::Standard);
        return file.read_json();
    }
    if place.starts_with("http://") {
        let what = "a key set is fetched over https only, since it is what the report is believed by";
        return Err(Trouble::Usage(what.to_owned()));
    }
    let no_url = || Trouble::Usage(format!("{place} is no URL"));
    let request = http::Request::get(place).body(http_body_util::Full::default()).map_err(|_| no_url())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Trouble::Environment(error.to_string()))?;
    let fetched = runtime.block_on(async { tokio::time::timeout(FETCH_TIME, fetch(request)).await });
    let bytes = fetched.ok().and_then(Result::ok);
    let bytes = bytes.ok_or_else(|| Trouble::Environment(format!("{place} cannot be fetched")))?;
    Document::parse(bytes).map_err(|_| Trouble::Usage(format!("{place} is not JSON")))
}

/// How long a key set may take.
const FETCH_TIME: Duration = Duration::from_secs(10);

/// A member that is text.
fn text(value: Value<'_>, name: &str) -> Option<String> {
    String::from_utf8(value.get(name.as_bytes())?.as_text()?.decode().into_owned()).ok()
}
