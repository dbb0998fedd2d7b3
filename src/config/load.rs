//! From text to [`Config`]: the file as a whole, `[server]`, `[tls]` and `[limits]`.

use super::dock;
use super::keys::{BOUNDS, DOCK, LIMITS, ROOT, SERVER, SERVICE, TLS};
use super::mistake::{Mistake, Mistakes};
use super::read::{At, Read, Section, Walk, shown};
use super::service::{self, Operations};
use super::{Config, DockConfig, Limits, Tls};
use crate::budget;
use std::fs::File;
use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;
use toml::de::DeTable;

/// The longest configuration file, in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

impl Config {
    /// Reads the configuration file at `path`.
    ///
    /// # Errors
    /// Every mistake in it at once, or the one reason why it cannot be read at all.
    pub fn load(path: &Path) -> Result<Config, Mistakes> {
        let origin = path.display().to_string();
        let text = read_text(path).map_err(|what| Mistakes::about_the_file(&origin, what))?;
        let base = path.parent().unwrap_or(Path::new(""));
        Config::parse_named(&origin, &text, base)
    }

    /// Reads a configuration from its text; relative file names in it start from `base`.
    ///
    /// # Errors
    /// Every mistake at once; where the text is not TOML, its syntax errors alone.
    pub fn parse(text: &str, base: &Path) -> Result<Config, Mistakes> {
        Config::parse_named("the configuration", text, base)
    }

    fn parse_named(origin: &str, text: &str, base: &Path) -> Result<Config, Mistakes> {
        let mut walk = Walk::new(text, base);
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            return Err(Mistakes::new(origin, syntax_errors(&walk, &errors)));
        }
        let config = read_config(&mut walk, table.get_ref());
        match (config, walk.mistakes) {
            (Ok(config), mistakes) if mistakes.is_empty() => Ok(config),
            (_, mistakes) => Err(Mistakes::new(origin, mistakes)),
        }
    }
}

fn read_text(path: &Path) -> Result<String, String> {
    let cannot = |error: &std::io::Error| format!("the file cannot be read: {error}");
    let file = File::open(path).map_err(|error| cannot(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| cannot(&error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("the file is over {MAX_FILE_BYTES} bytes, which no configuration needs"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(good).filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: the file is not UTF-8; save it as UTF-8")
    })
}

/// Only the parser's own words: its full text would quote the line, and a key may have been put there.
fn syntax_errors(walk: &Walk<'_>, errors: &[toml::de::Error]) -> Vec<Mistake> {
    let mistakes = errors.iter().map(|error| Mistake {
        line: error.span().map(|span| walk.line_of(span.start)),
        key: String::new(),
        what: format!("not TOML: {}; the settings are looked at once the syntax is right", error.message()),
    });
    mistakes.collect()
}

fn read_config<'a>(walk: &mut Walk<'a>, table: &'a DeTable<'a>) -> Read<Config> {
    let root = walk.root(table, &ROOT);
    let server = read_server(walk, &root);
    let tls = read_tls(walk, &root);
    let limits = read_limits(walk, &root);
    let docks = read_docks(walk, &root);
    let Operations { services, signing, x402, store } = service::read_all(walk, &root, docks.as_ref().ok())?;
    let (listen, admin_listen) = server?;
    Ok(Config {
        listen,
        admin_listen,
        tls: tls?,
        limits: limits?,
        docks: docks?,
        services,
        signing,
        x402,
        store,
    })
}

fn read_server<'a>(walk: &mut Walk<'a>, root: &Section<'a>) -> Read<(SocketAddr, SocketAddr)> {
    const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8443);
    const ADMIN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9443);
    let Some(section) = walk.section(root, SERVER.name, &SERVER)? else { return Ok((LISTEN, ADMIN)) };
    let listen = read_address(walk, &section, "listen", LISTEN);
    let admin = read_address(walk, &section, "admin_listen", ADMIN);
    let (listen, admin) = (listen?, admin?);
    let same_port = listen.port() == admin.port() && listen.port() != 0;
    let same_address =
        listen.ip() == admin.ip() || listen.ip().is_unspecified() || admin.ip().is_unspecified();
    if same_port && same_address {
        let what = format!("takes port {} from server.listen; give one of them another port", admin.port());
        return Err(walk.report(section.line(), section.path("admin_listen"), what));
    }
    Ok((listen, admin))
}

fn read_address<'a>(
    walk: &mut Walk<'a>,
    section: &Section<'a>,
    key: &str,
    default: SocketAddr,
) -> Read<SocketAddr> {
    let Some(At { line, value }) = walk.text(section, key)? else { return Ok(default) };
    value.parse().map_err(|_| {
        let what = format!(
            "is \"{}\", which is no address with a port; write one like \"{default}\" or \"[::]:{}\" (numbers, no names)",
            shown(value),
            default.port()
        );
        walk.report(Some(line), section.path(key), what)
    })
}

fn read_tls<'a>(walk: &mut Walk<'a>, root: &Section<'a>) -> Read<Tls> {
    const SOURCES: &str = "give exactly one source of the certificate: cert and key (PEM files), or \
                           self_signed = [\"localhost\"] for a trial";
    let Some(section) = walk.section(root, TLS.name, &TLS)? else {
        return Err(walk.report(None, TLS.name, format!("is missing; add [tls] and {SOURCES}")));
    };
    let cert = walk.file(&section, "cert");
    let key = walk.file(&section, "key");
    let names = read_names(walk, &section);
    let out = walk.file(&section, "self_signed_out");
    let (cert, key, names, out) = (cert?, key?, names?, out?);
    let here = section.line();
    match (cert, key, names) {
        (Some(cert), Some(key), None) => match out {
            None => Ok(Tls::Files { cert, key }),
            Some(_) => Err(walk.report(
                here,
                section.path("self_signed_out"),
                "goes with self_signed only; remove it",
            )),
        },
        (None, None, Some(names)) => Ok(Tls::SelfSigned { names, out }),
        (Some(_), None, None) => Err(walk.report(
            here,
            section.path("key"),
            "is missing; name the PEM file of the private key that belongs to cert",
        )),
        (None, Some(_), None) => Err(walk.report(
            here,
            section.path("cert"),
            "is missing; name the PEM file of the certificate chain that belongs to key",
        )),
        (None, None, None) => {
            Err(walk.report(here, section.name(), format!("names no certificate; {SOURCES}")))
        }
        (_, _, Some(_)) => Err(walk.report(here, section.name(), format!("names two sources; {SOURCES}"))),
    }
}

fn read_names<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<Option<Vec<String>>> {
    const KEY: &str = "self_signed";
    let Some(names) = walk.texts(section, KEY)? else { return Ok(None) };
    if names.is_empty() {
        return Err(walk.report(
            section.line(),
            section.path(KEY),
            "is empty; list the names that clients use, such as \"localhost\"",
        ));
    }
    let read = names.iter().enumerate().map(|(n, At { line, value })| {
        if is_host(value) {
            return Ok((*value).to_owned());
        }
        let what = format!(
            "is \"{}\"; it must be a host name or an IP address, without scheme, port or path",
            shown(value)
        );
        Err(walk.report(Some(*line), section.path(&format!("{KEY}[{n}]")), what))
    });
    let read: Vec<_> = read.collect();
    read.into_iter().collect::<Read<Vec<_>>>().map(Some)
}

/// An IP address, or a DNS name as RFC 1123 has it (a wildcard as its first label allowed).
pub(super) fn is_host(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let dns = name.strip_prefix("*.").unwrap_or(name);
    name.parse::<IpAddr>().is_ok() || (name.len() <= 253 && dns.split('.').all(label))
}

fn read_limits<'a>(walk: &mut Walk<'a>, root: &Section<'a>) -> Read<Limits> {
    let section = walk.section(root, LIMITS.name, &LIMITS)?;
    let mut number = |key: &'static str| match (BOUNDS.iter().find(|bound| bound.key == key), &section) {
        (Some(bound), Some(section)) => {
            walk.number(section, bound).map(|set| (set.as_ref().map_or(bound.default, |at| at.value), set))
        }
        (Some(bound), None) => Ok((bound.default, None)),
        (None, _) => Err(walk.report(None, key, "has no bounds, which is a fault of the dock, not yours")),
    };
    let max_body_bytes = number("max_body_bytes");
    let handshake = number("handshake_ms");
    let header = number("header_ms");
    let idle = number("idle_ms");
    let body = number("body_timeout_ms");
    let check = number("check_timeout_ms");
    let steps = number("check_steps");
    let connections = number("max_connections");
    let per_client = number("max_connections_per_client");
    let drain = number("drain_ms");

    let section = section.as_ref();
    let body = at_most(walk, section, "body_timeout_ms", body, "check_timeout_ms", &check);
    let per_client =
        at_most(walk, section, "max_connections_per_client", per_client, "max_connections", &connections);
    let steps = steps?.0;
    Ok(Limits {
        max_body_bytes: size(max_body_bytes?.0),
        handshake: Duration::from_millis(handshake?.0),
        header: Duration::from_millis(header?.0),
        idle: Duration::from_millis(idle?.0),
        body_timeout: Duration::from_millis(body?),
        check_timeout: Duration::from_millis(check?.0),
        check_steps: if steps == 0 { budget::DEFAULT_STEPS } else { steps },
        max_connections: size(connections?.0),
        max_connections_per_client: size(per_client?),
        drain: Duration::from_millis(drain?.0),
    })
}

/// A number as it holds in the end, and where the file sets it.
type Number = (u64, Option<At<u64>>);

/// `number`, which the limit `ceiling` caps: a default gives way to it, a value that was written must not.
fn at_most(
    walk: &mut Walk<'_>,
    section: Option<&Section<'_>>,
    key: &str,
    number: Read<Number>,
    ceiling_key: &str,
    ceiling: &Read<Number>,
) -> Read<u64> {
    let (value, set) = number?;
    let ceiling = match ceiling {
        Ok((ceiling, _)) => *ceiling,
        Err(reported) => return Err(*reported),
    };
    match (set, section) {
        (Some(At { line, value }), Some(section)) if value > ceiling => {
            let what = format!(
                "is {value}, more than {ceiling_key}, which is {ceiling}; lower the one or raise the other"
            );
            Err(walk.report(Some(line), section.path(key), what))
        }
        _ => Ok(value.min(ceiling)),
    }
}

/// Every bound fits 32 bits where it is a size.
fn size(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn read_docks<'a>(walk: &mut Walk<'a>, root: &Section<'a>) -> Read<Vec<DockConfig>> {
    let sections = walk.sections(root, DOCK.name, &DOCK)?;
    if sections.is_empty() && !root.has_items(SERVICE.name) {
        return Err(walk.report(
            None,
            DOCK.name,
            "is missing; add at least one [[dock]] with path, access, check and source, or a [[service]]",
        ));
    }
    dock::read_all(walk, sections)
}
