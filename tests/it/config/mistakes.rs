//! What each mistake says, and where.

use super::{GOOD, edited, load};
use millwork_dock::config::{Config, MAX_FILE_BYTES, Mistakes};
use millwork_dock::dock::argument;
use std::path::Path;

#[test]
fn reports_all_mistakes_at_once_in_the_order_of_the_file() {
    let text = r#"server = 5

[tls]
cert = "a.pem"
[limit]
[limits]
header_ms = 0
idle_ms = "5s"
max_conections = 10
path = "/x"
[[dock]]
path = "/a"
acces = "public"
check = "json"
[[dock]]
path = "/a/../b"
access = "open"
check = "tool-argument/v1"
source = "tool_cal"
uncovered = "reject"
[[dock]]
path = "/c"
access = "managed"
check = "tool-argument/v1"
source = "arguments"
require = ["valid_as_submited", "nothing like it"]
rate_limit = { per_second = 0 }
"#;
    let expected = r#"20 mistakes in the configuration:
  1. line 1: `server` must be a table, and is a whole number
  2. line 3: `tls.key` is missing; name the PEM file of the private key that belongs to cert
  3. line 5: `limit` is unknown; did you mean `limits`?
  4. line 7: `limits.header_ms` is 0; it must be from 1 to 10000, since Millwork gives a whole call 10 s
  5. line 8: `limits.idle_ms` must be a whole number, and is a string
  6. line 9: `limits.max_conections` is unknown; did you mean `max_connections`?
  7. line 10: `limits.path` is no setting of this table; it belongs in a [[dock]]
  8. line 11: `dock[0].access` is missing; write access = "managed" (only callers that send one of its keys) or access = "public" (anyone); there is no default
  9. line 13: `dock[0].acces` is unknown; did you mean `access`?
 10. line 14: `dock[0].check` is "json", which is no check; write check = "tool-argument/v1" (a call's arguments, with repairs), check = "json-schema" (any value, JSON Schema in full) or check = "token-efficiency/v1" (a tool catalogue)
 11. line 16: `dock[1].path` is "/a/../b"; no part of it may be empty, . or .., since clients rewrite those
 12. line 17: `dock[1].access` is "open"; write access = "managed" (only callers that send one of its keys) or access = "public" (anyone); there is no default
 13. line 19: `dock[1].source` is "tool_cal", which is no source; write source = "arguments" (the candidate is what schema describes), source = "tool_call" (it holds calls of the tools in tools) or, for tool-argument/v1, source = "check_request" (it brings its schema)
 14. line 20: `dock[1].uncovered` is "reject"; write "refuse" (calls of tools whose schemas the criteria refuse are answered 500) or "json-schema" (JSON Schema grades them)
 15. line 21: `dock[2].schema` is missing; source = "arguments" needs the file that holds the JSON Schema
 16. line 23: `dock[2].access` is "managed", which needs keys; add keys_env = "MILLWORK_VERIFIER_KEYS" (a variable's name) or keys_file = "…"
 17. line 26: `dock[2].require[0]` is "valid_as_submited", which is no anchor of this check; did you mean "valid_as_submitted"?
 18. line 26: `dock[2].require[1]` is "nothing like it", which is no anchor of this check; its anchors: ANCHORS
 19. line 27: `dock[2].rate_limit.per_second` is 0; it must be from 1 to 1000000, since 0 would refuse every call (rate_limit = "off" ends the limit)
 20. line 27: `dock[2].rate_limit.burst` is missing; a rate_limit has both per_second and burst"#;
    let expected = expected.replace("ANCHORS", &argument::ANCHORS.names.join(", "));
    assert_eq!(load(text).unwrap_err().to_string(), expected);
}

/// Edits of the good text that hold one mistake each: what is replaced, by what, the key that is named, and a
/// part of what is said.
pub(super) const ONE_MISTAKE: &[(&str, &str, &str, &str)] = &[
    ("listen = \"127.0.0.1:8443\"", "listen = \"localhost:8443\"", "server.listen", "numbers, no names"),
    ("listen = \"127.0.0.1:8443\"", "listen = \"0.0.0.0:9443\"", "server.admin_listen", "another port"),
    ("listen = \"127.0.0.1:8443\"", "listen = 8443", "server.listen", "must be a string"),
    ("cert = \"tls.crt\"\n", "", "tls.cert", "certificate chain"),
    ("key = \"/etc/tls.key\"\n", "", "tls.key", "private key"),
    ("key = \"/etc/tls.key\"\n", "key = \"\"\n", "tls.key", "name of a file"),
    ("key = \"/etc/tls.key\"", "key = \"k\"\nself_signed = [\"a\"]", "tls", "two sources"),
    (
        "key = \"/etc/tls.key\"",
        "key = \"k\"\nself_signed_out = \"a\"",
        "tls.self_signed_out",
        "self_signed only",
    ),
    ("cert = \"tls.crt\"\nkey = \"/etc/tls.key\"\n", "", "tls", "names no certificate"),
    ("[tls]\ncert = \"tls.crt\"\nkey = \"/etc/tls.key\"\n", "", "tls", "is missing"),
    (TLS_FILES, "self_signed = []", "tls.self_signed", "is empty"),
    (TLS_FILES, "self_signed = [\"a\", \"https://a\"]", "tls.self_signed[1]", "without scheme"),
    (TLS_FILES, "self_signed = [\"localhost:8443\"]", "tls.self_signed[0]", "port"),
    (TLS_FILES, "self_signed = \"localhost\"", "tls.self_signed", "array of strings"),
    ("max_body_bytes = 65_536", "max_body_bytes = 1048577", "limits.max_body_bytes", "1024 to 1048576"),
    ("max_body_bytes = 65_536", "max_body_bytes = 65536.5", "limits.max_body_bytes", "whole number"),
    ("max_body_bytes = 65_536", "drain_ms = -1", "limits.drain_ms", "0 to 600000"),
    ("max_body_bytes = 65_536", "header_ms = 99999999999999999999", "limits.header_ms", "1 to 10000"),
    ("max_body_bytes = 65_536", "check_timeout_ms = 9001", "limits.check_timeout_ms", "10 s"),
    (
        "max_body_bytes = 65_536",
        "check_timeout_ms = 300\nbody_timeout_ms = 301",
        "limits.body_timeout_ms",
        "more than check_timeout_ms, which is 300",
    ),
    (
        "max_body_bytes = 65_536",
        "max_connections_per_client = 10001",
        "limits.max_connections_per_client",
        "more than max_connections, which is 10000",
    ),
    ("max_body_bytes", "max_body_byte", "limits.max_body_byte", "did you mean `max_body_bytes`?"),
    ("max_body_bytes", "zzz", "limits.zzz", "the settings here are max_body_bytes, handshake_ms"),
    ("max_body_bytes = 65_536", "burst = 1", "limits.burst", "rate_limit = { burst = … }"),
    ("[limits]\n", "[limits]\nlisten = \"[::]:1\"\n", "limits.listen", "belongs in [server]"),
    ("[limits]\n", "[store]\nurl = \"mysql:x\"\n[limits]\n", "store.url", "cannot be used"),
    ("[limits]\n", "[signing]\n[limits]\n", "signing.key", "key signing new"),
    ("path = \"/refunds\"\n", "", "dock[0].path", "is missing"),
    ("\"/refunds\"", "\"refunds\"", "dock[0].path", "start with /"),
    ("\"/refunds\"", "\"\"", "dock[0].path", "start with /"),
    ("\"/refunds\"", "\"/refunds?a=b\"", "dock[0].path", "query"),
    ("\"/refunds\"", "\"/refunds#a\"", "dock[0].path", "fragment"),
    ("\"/refunds\"", "\"/a//b\"", "dock[0].path", "empty"),
    ("\"/refunds\"", "\"//\"", "dock[0].path", "empty"),
    ("\"/refunds\"", "\"/a/.\"", "dock[0].path", ". or .."),
    ("\"/refunds\"", "\"/a%2Fb\"", "dock[0].path", "nothing encoded"),
    ("\"/refunds\"", "\"/über\"", "dock[0].path", "ASCII"),
    ("\"/refunds\"", "\"/check\"", "dock[1].path", "which dock[0] has already"),
    ("access = \"managed\"\n", "", "dock[0].access", "access = \"managed\" (only callers"),
    ("access = \"managed\"", "access = \"Managed\"", "dock[0].access", "access = \"public\" (anyone)"),
    ("access = \"managed\"", "access = \"public\"", "dock[0].keys_env", "asks for none"),
    ("access = \"managed\"", "access = true", "dock[0].access", "must be a string"),
    ("keys_env = \"MILLWORK_VERIFIER_KEYS\"\n", "", "dock[0].access", "needs keys"),
    ("keys_env = ", "keys_file = \"k\"\nkeys_env = ", "dock[0].keys_file", "one source"),
    ("access = \"public\"", "access = \"public\"\nkeys_file = \"k\"", "dock[1].keys_file", "asks for none"),
    ("keys_env = ", "keys = \"k\"\nkeys_env = ", "dock[0].keys", "did you mean `keys_"),
    ("check = \"tool-argument/v1\"\n", "", "dock[0].check", "is missing"),
    ("tool-argument/v1", "tool-argument", "dock[0].check", "which is no check"),
    (
        "tool-argument/v1\"\nsource = \"check_request",
        "json-schema\"\nsource = \"check_request",
        "dock[1].source",
        "goes with check",
    ),
    (
        "tool-argument/v1\"\nsource = \"arguments",
        "json-schema\"\nanchors = \"per_defect\"\nsource = \"arguments",
        "dock[0].anchors",
        "none pinned",
    ),
    (
        "source = \"check_request\"",
        "source = \"tool_call\"\ntools = \"t\"\nuncovered = \"x\"",
        "dock[1].uncovered",
        "\"refuse\"",
    ),
    (
        "check = \"tool-argument/v1\"\nsource = \"check_request\"",
        "check = \"token-efficiency/v1\"\nanchors = \"codes\"",
        "dock[1].anchors",
        "remove it",
    ),
    (
        "check = \"tool-argument/v1\"\nsource = \"check_request\"",
        "check = \"token-efficiency/v1\"\nrequire = [\"valid_as_submitted\"]",
        "dock[1].require[0]",
        "its anchors: catalogue_in_contract, ",
    ),
    ("source = \"check_request\"", "", "dock[1].source", "is missing"),
    ("source = \"check_request\"", "source = \"args\"", "dock[1].source", "which is no source"),
    (
        "source = \"check_request\"",
        "source = \"check_request\"\nschema = \"s\"",
        "dock[1].schema",
        "remove it",
    ),
    ("schema = \"refund.json\"", "", "dock[0].schema", "is missing"),
    ("schema = \"refund.json\"", "schema = {}", "dock[0].schema", "must be a string"),
    ("schema = \"refund.json\"", "schema = \"s\"\nuncovered = \"refuse\"", "dock[0].uncovered", "remove it"),
    ("schema = \"refund.json\"", "schema = \"s\"\nstrict = true", "dock[0].strict", "remove it"),
    ("schema = \"refund.json\"", "schema = \"s\"\ntools = \"t\"", "dock[0].tools", "remove it"),
    ("source = \"check_request\"", "source = \"tool_call\"", "dock[1].tools", "is missing"),
    (
        "source = \"check_request\"",
        "source = \"tool_call\"\ntools = \"t\"\nformat = \"xml\"",
        "dock[1].format",
        "\"anthropic\"",
    ),
    (
        "source = \"check_request\"",
        "source = \"tool_call\"\ntools = \"t\"\nstrict = 1",
        "dock[1].strict",
        "true or false",
    ),
    (
        "source = \"check_request\"",
        "source = \"tool_call\"\ntools = \"t\"\nschema = \"s\"",
        "dock[1].schema",
        "remove it",
    ),
    ("schema = \"refund.json\"", "schema = \"s\"\nanchors = \"all\"", "dock[0].anchors", "\"per_defect\""),
    (
        "source = \"check_request\"",
        "source = \"check_request\"\nanchors = \"per_defect\"",
        "dock[1].anchors",
        "none pinned",
    ),
    (
        "schema =",
        "require = [\"no_type_mismatc\"]\nschema =",
        "dock[0].require[0]",
        "mean \"no_type_mismatch\"?",
    ),
    ("schema =", "require = \"no_type_mismatch\"\nschema =", "dock[0].require", "array of strings"),
    ("schema =", "require = [1]\nschema =", "dock[0].require[0]", "must be a string"),
    (
        "schema =",
        "require = [\"no_type_mismatch\", \"no_type_mismatch\"]\nschema =",
        "dock[0].require[1]",
        "say it once",
    ),
    ("schema =", "rate_limit = \"on\"\nschema =", "dock[0].rate_limit", "rate_limit = \"off\""),
    ("schema =", "rate_limit = 5\nschema =", "dock[0].rate_limit", "must be a table"),
    ("schema =", "rate_limit = { burst = 5 }\nschema =", "dock[0].rate_limit.per_second", "is missing"),
    (
        "schema =",
        "rate_limit = { burst = 5, per_second = 1, per_secnd = 1 }\nschema =",
        "dock[0].rate_limit.per_secnd",
        "did you mean `per_second`?",
    ),
];

const TLS_FILES: &str = "cert = \"tls.crt\"\nkey = \"/etc/tls.key\"";

#[test]
fn one_mistake_is_told_once_with_its_key_and_its_fix() {
    assert!(load(GOOD).is_ok());
    for (from, to, key, says) in ONE_MISTAKE {
        let mistakes = load(&edited(from, to)).expect_err(to);
        let [mistake] = mistakes.list() else { panic!("{to}: {mistakes}") };
        assert_eq!(mistake.key, *key, "{to}: {mistake}");
        assert!(mistake.what.contains(says), "{to}: {mistake}");
    }
}

#[test]
fn a_file_without_docks_says_so() {
    let tls = "tls.self_signed = ['a']\n";
    for (docks, says) in [
        ("", "add at least one [[dock]]"),
        ("dock = []", "add at least one [[dock]]"),
        ("[dock]\npath = '/'", "put its name in two brackets: [[dock]]"),
        ("dock = 'x'", "must be written as [[dock]], and is a string"),
        ("dock = ['x']", "must be a table, and is a string"),
    ] {
        let mistakes = load(&format!("{tls}{docks}")).unwrap_err();
        assert!(mistakes.list().len() == 1 && mistakes.list()[0].what.contains(says), "{docks}: {mistakes}");
    }
}

#[test]
fn syntax_errors_are_told_with_their_lines() {
    let told = load("[server]\nlisten = \n[tls\ncert = 'x'\n").unwrap_err();
    let lines: Vec<_> = told.list().iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [Some(2), Some(3)], "{told}");
    assert!(told.list().iter().all(|mistake| mistake.what.starts_with("not TOML: ")), "{told}");
    let twice = load("[tls]\n[tls]\n").unwrap_err();
    assert_eq!(twice.list()[0].line, Some(2), "{twice}");
}

#[test]
fn no_mistake_repeats_a_key_that_was_put_in_the_wrong_place() {
    const SECRET: &str = "mwdock_0123456789abcdef0123456789abcdef";
    for (from, to) in [
        ("\"MILLWORK_VERIFIER_KEYS\"".to_owned(), format!("\"{SECRET}\"")),
        ("\"MILLWORK_VERIFIER_KEYS\"".to_owned(), "\"solverapi_live_0123456789abcdef\"".to_owned()),
        ("\"MILLWORK_VERIFIER_KEYS\"".to_owned(), "\"0123456789abcdef-0123456789abcdef\"".to_owned()),
        ("keys_env = \"MILLWORK_VERIFIER_KEYS\"".to_owned(), format!("keys = \"{SECRET}\"")),
        ("keys_env = \"MILLWORK_VERIFIER_KEYS\"".to_owned(), format!("keys_env = [\"{SECRET}\"]")),
        ("\"MILLWORK_VERIFIER_KEYS\"".to_owned(), format!("\"{SECRET}")),
        ("\"MILLWORK_VERIFIER_KEYS\"".to_owned(), SECRET.to_owned()),
    ] {
        let mistakes = load(&edited(&from, &to)).expect_err(&to);
        let told = format!("{mistakes} {mistakes:?}");
        assert!(!told.contains("0123456789abcdef"), "{told}");
    }
}

#[test]
fn a_long_or_strange_value_is_shown_short_and_on_one_line() {
    let told = load(&edited("\"/refunds\"", &format!("\"a\\n\\u001b{}\"", "b".repeat(10_000)))).unwrap_err();
    assert!(told.list()[0].to_string().len() < 200, "{told}");
    assert!(!told.list()[0].to_string().contains(char::is_control), "{told}");
}

#[test]
fn a_file_that_cannot_be_read_is_a_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let told = |name: &str, bytes: Option<&[u8]>| {
        let path = dir.path().join(name);
        if let Some(bytes) = bytes {
            std::fs::write(&path, bytes).unwrap();
        }
        let mistakes: Mistakes = Config::load(&path).unwrap_err();
        let [mistake] = mistakes.list() else { panic!("{mistakes}") };
        assert!(mistakes.to_string().starts_with(&format!("1 mistake in {}:", path.display())), "{mistakes}");
        mistake.to_string()
    };
    assert!(told("missing.toml", None).contains("the file cannot be read"));
    assert!(told("", None).contains("the file cannot be read"), "a directory");
    assert!(told("latin1.toml", Some(b"[tls]\n# \xfc\n")).contains("line 2: the file is not UTF-8"));
    let length = usize::try_from(MAX_FILE_BYTES).unwrap() + 1;
    assert!(told("long.toml", Some(&vec![b'#'; length])).contains("over 1048576 bytes"));
    assert!(Config::load(Path::new("/dev/null/x")).is_err());
}
