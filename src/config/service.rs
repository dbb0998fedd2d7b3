//! The published operations: `[[service]]`, `[signing]`, `[x402]` and `[store]`.

use std::path::PathBuf;
use std::time::Duration;

use super::dock::{missing, wrong_with_path};
use super::keys::{FACILITATOR_TIMES, SERVICE, SIGNING, STORE, X402};
use super::rate;
use super::read::{At, Read, Section, Walk, shown};
use super::{DockConfig, Op, Requirements, ServiceConfig, SigningConfig, StoreConfig, StoreUrl};
use crate::service::x402::{Network, address};

/// Everything that the file says of the published operations.
pub(super) struct Operations {
    pub(super) services: Vec<ServiceConfig>,
    pub(super) signing: Option<SigningConfig>,
    pub(super) x402: Option<Requirements>,
    pub(super) store: StoreConfig,
}

/// The endpoints under a base path; all of them are taken, whatever the operation answers there.
pub const ENDPOINTS: [&str; 7] = ["criteria", "precheck", "check", "metrics", "budget", "catalogue", "audit"];
/// Where the key set is.
pub const JWKS_PATH: &str = "/.well-known/jwks.json";

pub(super) fn read_all<'a>(
    walk: &mut Walk<'a>,
    root: &Section<'a>,
    docks: Option<&Vec<DockConfig>>,
) -> Read<Operations> {
    let sections = walk.sections(root, SERVICE.name, &SERVICE);
    let signing = read_signing(walk, root);
    let x402 = read_x402(walk, root);
    let store = read_store(walk, root);
    let mut services: Vec<ServiceConfig> = Vec::new();
    let mut failed = None;
    for section in sections? {
        match section.and_then(|section| read_service(walk, &section, &services, docks)) {
            Ok(service) => services.push(service),
            Err(reported) => failed = Some(reported),
        }
    }
    let (signing, x402, store) = (signing?, x402?, store?);
    if let Some(reported) = failed {
        return Err(reported);
    }
    if !services.is_empty() && signing.is_none() {
        let what = "is missing; a [[service]] signs what it answers: add [signing] with key = \"signing.pem\", which \
                    `millwork-dock key signing new` makes";
        return Err(walk.report(None, SIGNING.name, what));
    }
    if services.iter().any(|service| service.is_paid) && x402.is_none() {
        let what =
            "is missing; payment = \"x402\" needs [x402] with facilitator, pay_to, network and fee_payers";
        return Err(walk.report(None, X402.name, what));
    }
    Ok(Operations { services, signing, x402, store })
}

fn read_service<'a>(
    walk: &mut Walk<'a>,
    section: &Section<'a>,
    before: &[ServiceConfig],
    docks: Option<&Vec<DockConfig>>,
) -> Read<ServiceConfig> {
    let op = read_op(walk, section, before);
    let base = read_base(walk, section, op.as_ref().ok().copied(), before, docks);
    let is_paid = read_payment(walk, section);
    let rate_limit = rate::read(walk, section, Some(rate::limit(20, 100)));
    let acknowledged = walk.texts(section, "acknowledged");
    Ok(ServiceConfig {
        op: op?,
        base: base?,
        is_paid: is_paid?,
        rate_limit: rate_limit?,
        acknowledged: acknowledged?.unwrap_or_default().iter().map(|at| at.value.to_owned()).collect(),
    })
}

fn read_op<'a>(walk: &mut Walk<'a>, section: &Section<'a>, before: &[ServiceConfig]) -> Read<Op> {
    const KEY: &str = "op";
    const OPS: &str = "write op = \"argument-check\" or op = \"split-profile\"";
    let Some(At { line, value }) = walk.text(section, KEY)? else {
        return Err(missing(walk, section, KEY, OPS));
    };
    let Some(op) = Op::ALL.into_iter().find(|op| op.name() == value) else {
        let what = format!("is \"{}\", which is no operation; {OPS}", shown(value));
        return Err(walk.report(Some(line), section.path(KEY), what));
    };
    if before.iter().any(|service| service.op == op) {
        let what = format!("is \"{value}\" a second time; an operation is served once");
        return Err(walk.report(Some(line), section.path(KEY), what));
    }
    Ok(op)
}

fn read_base<'a>(
    walk: &mut Walk<'a>,
    section: &Section<'a>,
    op: Option<Op>,
    before: &[ServiceConfig],
    docks: Option<&Vec<DockConfig>>,
) -> Read<String> {
    const KEY: &str = "base";
    let (line, base) = match walk.text(section, KEY)? {
        Some(At { line, value }) => (Some(line), value.to_owned()),
        None => (section.line(), op.map_or_else(String::new, |op| format!("/{}", op.name()))),
    };
    let wrong = wrong_with_path(&base).filter(|_| op.is_some() || line != section.line());
    let wrong = wrong.or(base.ends_with('/').then_some("it must not end with /"));
    if let Some(wrong) = wrong {
        let what = format!("is \"{}\"; {wrong}", shown(&base));
        return Err(walk.report(line, section.path(KEY), what));
    }
    let taken = |path: &str| {
        let other = before.iter().any(|service| service.base == base);
        other || path == JWKS_PATH || docks.is_some_and(|docks| docks.iter().any(|dock| dock.path == path))
    };
    if ENDPOINTS.iter().any(|endpoint| taken(&format!("{base}/{endpoint}"))) {
        let what = format!("is \"{}\", under which a dock or another service answers already", shown(&base));
        return Err(walk.report(line, section.path(KEY), what));
    }
    Ok(base)
}

/// No default: an operation is not free by omission.
fn read_payment<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<bool> {
    const KEY: &str = "payment";
    const WAYS: &str = "write payment = \"x402\" (a check costs its published price) or payment = \"none\" (free and \
                        unmetered, for your own use); there is no default";
    match walk.text(section, KEY)? {
        Some(At { value: "x402", .. }) => Ok(true),
        Some(At { value: "none", .. }) => Ok(false),
        Some(At { line, value }) => {
            let what = format!("is \"{}\"; {WAYS}", shown(value));
            Err(walk.report(Some(line), section.path(KEY), what))
        }
        None => Err(missing(walk, section, KEY, WAYS)),
    }
}

fn read_signing<'a>(walk: &mut Walk<'a>, root: &Section<'a>) -> Read<Option<SigningConfig>> {
    let Some(section) = walk.section(root, SIGNING.name, &SIGNING)? else { return Ok(None) };
    let key = walk.file(&section, "key");
    let retired = read_files(walk, &section, "retired");
    let Some(key) = key? else {
        let fix = "name the file that `millwork-dock key signing new` wrote";
        return Err(missing(walk, &section, "key", fix));
    };
    Ok(Some(SigningConfig { key, retired: retired? }))
}

/// The files listed under `key`; none if it is not there.
fn read_files<'a>(walk: &mut Walk<'a>, section: &Section<'a>, key: &str) -> Read<Vec<PathBuf>> {
    let names = walk.texts(section, key)?.unwrap_or_default();
    let read = names.iter().enumerate().map(|(n, At { line, value })| {
        if value.is_empty() || value.contains('\0') {
            let what = "must be the name of a file, and is empty or no name";
            return Err(walk.report(Some(*line), section.path(&format!("{key}[{n}]")), what));
        }
        Ok(walk.beside(value))
    });
    let read: Vec<Read<PathBuf>> = read.collect();
    read.into_iter().collect()
}

fn read_x402<'a>(walk: &mut Walk<'a>, root: &Section<'a>) -> Read<Option<Requirements>> {
    let Some(section) = walk.section(root, X402.name, &X402)? else { return Ok(None) };
    let facilitator = read_facilitator(walk, &section);
    let pay_to = read_wallet(walk, &section, "pay_to", "the wallet that is paid");
    let network = read_network(walk, &section);
    let asset = match walk.text(&section, "asset") {
        Ok(None) => Ok(None),
        _ => read_wallet(walk, &section, "asset", "the mint of the token").map(Some),
    };
    let fee_payers = read_wallets(walk, &section, "fee_payers");
    let [verify, settle] = FACILITATOR_TIMES.each_ref().map(|bound| {
        let time = walk.number(&section, bound);
        time.map(|time| Duration::from_millis(time.map_or(bound.default, |at| at.value)))
    });
    let (network, fee_payers) = (network?, fee_payers?);
    if fee_payers.is_empty() {
        let fix = "list the facilitator's wallets that pay Solana's fee, which its GET /supported names";
        return Err(missing(walk, &section, "fee_payers", fix));
    }
    Ok(Some(Requirements {
        facilitator: facilitator?,
        pay_to: pay_to?,
        network,
        asset: asset?.unwrap_or_else(|| network.usdc().to_owned()),
        fee_payers,
        verify_timeout: verify?,
        settle_timeout: settle?,
    }))
}

/// `https` alone, but for a facilitator on this machine.
fn read_facilitator<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<String> {
    const KEY: &str = "facilitator";
    const FIX: &str = "write the base URL of the x402 facilitator, such as \"https://facilitator.example\"";
    let Some(At { line, value }) = walk.text(section, KEY)? else {
        return Err(missing(walk, section, KEY, FIX));
    };
    let url = value.trim_end_matches('/');
    let parsed = url.parse::<http::Uri>().ok();
    let host = parsed.as_ref().and_then(http::Uri::host).unwrap_or_default();
    let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let scheme = parsed.as_ref().and_then(http::Uri::scheme_str);
    let authority = parsed.as_ref().and_then(http::Uri::authority);
    let is_plain = authority.is_some_and(|authority| !authority.as_str().contains('@'));
    let good = !host.is_empty() && is_plain && !url.contains(['?', '#']);
    match scheme {
        Some("https") if good => Ok(url.to_owned()),
        Some("http") if good && is_local => Ok(url.to_owned()),
        _ => {
            let what =
                format!("cannot be used; {FIX} (http only on this machine, no user, query or fragment)");
            Err(walk.report(Some(line), section.path(KEY), what))
        }
    }
}

fn read_network<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<Network> {
    const KEY: &str = "network";
    const FIX: &str = "write network = \"solana\" or, for trials, network = \"solana-devnet\"";
    let Some(At { line, value }) = walk.text(section, KEY)? else {
        return Err(missing(walk, section, KEY, FIX));
    };
    let network = Network::ALL.into_iter().find(|network| [network.name(), network.caip2()].contains(&value));
    network.ok_or_else(|| {
        let what = format!("is \"{}\"; {FIX}", shown(value));
        walk.report(Some(line), section.path(KEY), what)
    })
}

fn read_wallet<'a>(walk: &mut Walk<'a>, section: &Section<'a>, key: &str, what: &str) -> Read<String> {
    let Some(At { line, value }) = walk.text(section, key)? else {
        return Err(missing(walk, section, key, &format!("name {what}, a Solana address")));
    };
    wallet(walk, line, section.path(key), value)
}

/// The list under `key`; empty if it is not there.
fn read_wallets<'a>(walk: &mut Walk<'a>, section: &Section<'a>, key: &str) -> Read<Vec<String>> {
    let wallets = walk.texts(section, key)?.unwrap_or_default();
    let read = wallets
        .iter()
        .enumerate()
        .map(|(n, At { line, value })| wallet(walk, *line, section.path(&format!("{key}[{n}]")), value));
    let read: Vec<Read<String>> = read.collect();
    read.into_iter().collect()
}

/// The value is not shown: a secret key is base58, too.
fn wallet(walk: &mut Walk<'_>, line: usize, path: String, value: &str) -> Read<String> {
    match address(value) {
        Some(_) => Ok(value.to_owned()),
        None => Err(walk.report(Some(line), path, "is no Solana address: base58 of 32 bytes")),
    }
}

fn read_store<'a>(walk: &mut Walk<'a>, root: &Section<'a>) -> Read<StoreConfig> {
    const DEFAULT: &str = "dock.db";
    const FIX: &str = "write url = \"sqlite:dock.db\" or url = \"postgres://…\", or url_env = \"…\" with the name of the \
                       variable that holds it";
    let embedded = |walk: &Walk<'_>, path: &str| format!("sqlite:{}", walk.beside(path).display());
    let Some(section) = walk.section(root, STORE.name, &STORE)? else {
        let url = StoreUrl::Text(embedded(walk, DEFAULT));
        return Ok(StoreConfig { url, house_wallets: Vec::new() });
    };
    let url = walk.text(&section, "url");
    let env = walk.text(&section, "url_env");
    let house_wallets = read_wallets(walk, &section, "house_wallets");
    let url = match (url?, env?) {
        (None, None) => StoreUrl::Text(embedded(walk, DEFAULT)),
        (None, Some(At { value, .. })) => StoreUrl::Env(value.to_owned()),
        (Some(At { line, value }), None) => match value.strip_prefix("sqlite:") {
            Some(path) if !path.is_empty() => StoreUrl::Text(embedded(walk, path)),
            None if value.starts_with("postgres://") || value.starts_with("postgresql://") => {
                StoreUrl::Text(value.to_owned())
            }
            _ => return Err(walk.report(Some(line), section.path("url"), format!("cannot be used; {FIX}"))),
        },
        (Some(At { line, .. }), Some(_)) => {
            let what = "and url_env are both given; keep one of them";
            return Err(walk.report(Some(line), section.path("url"), what));
        }
    };
    Ok(StoreConfig { url, house_wallets: house_wallets? })
}
