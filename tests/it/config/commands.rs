//! The commands `config check` and `key access new`, run as an operator runs them.

use super::in_repository;
use crate::command::{Ran, run_with};
use millwork_dock::config::KeySource;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    run_with(arguments, "", variables)
}

fn check(file: &Path, variables: &[(&str, &str)]) -> Ran {
    run(&["config", "check", file.to_str().unwrap()], variables)
}

#[test]
fn config_check_sums_a_good_configuration_up() {
    let ran = check(&in_repository("deploy/quickstart.toml"), &[]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let first = ran.out.lines().next().unwrap();
    assert!(
        first.ends_with("is fine: 3 docks at 127.0.0.1:8443, health and metrics at 127.0.0.1:9443"),
        "{first}"
    );
    for part in [
        "\n/check\n  access   public: anyone may call\n  check    tool-argument/v1 of check requests\n",
        "\n/refunds\n",
        "\n/calls\n",
        "\n  tools\n    create_refund: covered, graded by tool-argument/v1\n",
        "schemas/refund.json\n",
        "  require  valid_as_submitted (the default)\n",
        "  rate     200 a second, 400 at once, per client\n",
    ] {
        assert!(ran.out.contains(part), "{part:?} in:\n{}", ran.out);
    }
}

#[test]
fn config_check_notes_what_this_machine_lacks_and_accepts_the_configuration() {
    let ran = check(&in_repository("deploy/dock.toml"), &[]);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(ran.out.contains("managed, keys from the variable MILLWORK_VERIFIER_KEYS"), "{}", ran.out);
    assert!(ran.err.contains("note: /refunds: no key is configured"), "{}", ran.err);
    assert!(ran.err.contains("503 endpoint_keys_not_configured"), "{}", ran.err);
    assert!(
        ran.err.contains("note: tls.cert: /etc/millwork-dock/tls.crt cannot be read here"),
        "{}",
        ran.err
    );
    let account =
        check(&in_repository("deploy/dock.toml"), &[("MILLWORK_VERIFIER_KEYS", "solverapi_live_0123456789")]);
    assert!(account.err.contains("endpoint_keys_misconfigured") && account.status == 0, "{}", account.err);
    assert!(!format!("{}{}", account.out, account.err).contains("0123456789"));
}

#[test]
fn config_check_tells_all_mistakes_and_exits_with_2() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.toml");
    std::fs::write(&file, "[tls]\n[limits]\nheader_ms = 0\n").unwrap();
    let ran = check(&file, &[]);
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.starts_with(&format!(
            "3 mistakes in {}:\n  1. line 1: `tls` names no certificate",
            file.display()
        ))
    );
    assert!(ran.err.contains("\n  2. line 3: `limits.header_ms` is 0;"), "{}", ran.err);
    assert!(ran.err.contains("\n  3. `dock` is missing;"), "{}", ran.err);
    assert_eq!(check(&dir.path().join("none.toml"), &[]).status, 2);
}

#[test]
fn config_check_tells_every_schema_that_cannot_be_used() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("not-json", "{");
    write("refused", r#"{"type": "object", "properties": {"a": {"anyOf": []}}}"#);
    write("invalid", r#"{"type": "dict"}"#);
    write("good", r#"{"type": "object"}"#);
    let mut text = "tls.self_signed = ['a']\n".to_owned();
    for name in ["missing", "not-json", "refused", "invalid", "good"] {
        let dock = format!("path = '/{name}'\naccess = 'public'\nsource = 'arguments'\nschema = '{name}'\n");
        text.extend(["[[dock]]\ncheck = 'tool-argument/v1'\n", &dock]);
    }
    write("dock.toml", &text);
    let ran = check(&dir.path().join("dock.toml"), &[]);
    assert_eq!(ran.status, 2);
    for part in [
        "4 mistakes",
        "1. `dock[0].schema` names ",
        "missing, which cannot be read: ",
        "not-json, which is not JSON: ",
        "refused, which the argument check refuses: schema_not_covered (keyword anyOf) at #/properties/a",
        "invalid, which the argument check refuses: schema_invalid (keyword type) at #",
    ] {
        assert!(ran.err.contains(part), "{part:?} in:\n{}", ran.err);
    }
}

#[test]
fn config_check_knows_the_anchors() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("dock.toml");
    let with = |require: &str| {
        let text = format!(
            "tls.self_signed = ['a']\n[[dock]]\npath = '/'\naccess = 'public'\ncheck = 'tool-argument/v1'\n\
             source = 'check_request'\nrequire = {require}\n"
        );
        std::fs::write(&file, text).unwrap();
        check(&file, &[])
    };
    let good = with("['without_r7_wrap_single_in_array', 'no_type_mismatch']");
    assert_eq!(good.status, 0, "{}", good.err);
    assert!(
        good.out.contains("  require  without_r7_wrap_single_in_array, no_type_mismatch\n"),
        "{}",
        good.out
    );
    assert!(with("[]").out.contains("  require  nothing more: repairs are accepted\n"));
    let bad = with("['without_r7_wrap_single']");
    assert_eq!(bad.status, 2);
    assert!(bad.err.contains("did you mean \"without_r7_wrap_single_in_array\"?"), "{}", bad.err);
}

#[test]
fn key_access_new_prints_nothing_but_a_fresh_usable_key() {
    let keys: BTreeSet<String> = (0..4)
        .map(|_| {
            let ran = run(&["key", "access", "new"], &[]);
            assert_eq!(ran.status, 0, "{}", ran.err);
            let key = ran.out.strip_suffix('\n').unwrap().to_owned();
            assert!(!ran.err.is_empty() && !ran.err.contains(&key), "the hint is elsewhere: {}", ran.err);
            assert!(key.len() == 71 && key.starts_with("mwdock_"), "{key}");
            assert!(key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{key}");
            key
        })
        .collect();
    assert_eq!(keys.len(), 4, "none comes twice");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("keys");
    std::fs::write(&file, keys.into_iter().collect::<Vec<_>>().join("\n")).unwrap();
    assert_eq!(KeySource::File(file).read().map(|keys| keys.count()), Ok(4));
}

#[test]
fn a_command_line_that_makes_no_sense_exits_with_2_and_help_with_0() {
    for arguments in [
        &[][..],
        &["config"],
        &["config", "check"],
        &["key", "access"],
        &["nonsense"],
        &["config", "check", "a", "b"],
    ] {
        assert_eq!(run(arguments, &[]).status, 2, "{arguments:?}");
    }
    assert_eq!(run(&["--help"], &[]).status, 0);
    assert!(run(&["--version"], &[]).out.starts_with("millwork-dock "));
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_exits_with_5() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_millwork-dock"));
    let status = command.args(["key", "access", "new"]).stdout(full).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(5));
}
