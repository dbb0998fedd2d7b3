//! The configuration: what is accepted and read out of it. Beside this: what each mistake says, and that the
//! loader, its JSON Schema and the commented example tell the same story.

mod agreement;
mod commands;
mod mistakes;

use millwork_dock::config::{
    Access, AnchorMode, Check, Config, DockConfig, Form, KeySource, Limits, Mistakes, RateLimit,
    SchemaSource, Source, StoreConfig, StoreUrl, Tls, Tools,
};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

const GOOD: &str = r#"[server]
listen = "127.0.0.1:8443"

[tls]
cert = "tls.crt"
key = "/etc/tls.key"

[limits]
max_body_bytes = 65_536

[[dock]]
path = "/refunds"
access = "managed"
keys_env = "MILLWORK_VERIFIER_KEYS"
check = "tool-argument/v1"
source = "arguments"
schema = "refund.json"

[[dock]]
path = "/check"
access = "public"
check = "tool-argument/v1"
source = "check_request"
"#;

fn load(text: &str) -> Result<Config, Mistakes> {
    Config::parse(text, Path::new("/base"))
}

/// [`GOOD`] with its first `from` replaced, which must be there.
fn edited(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from:?} is not in the text to edit");
    GOOD.replacen(from, to, 1)
}

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn rate(per_second: u32, burst: u32) -> RateLimit {
    let whole = |n| NonZeroU32::new(n).unwrap();
    RateLimit { per_second: whole(per_second), burst: whole(burst) }
}

/// The store where the file says nothing.
fn embedded() -> StoreConfig {
    StoreConfig { url: StoreUrl::Text("sqlite:/base/dock.db".to_owned()), house_wallets: Vec::new() }
}

#[test]
fn fills_every_default_in() {
    let config = load(
        "tls.self_signed = ['localhost']\n\
         [[dock]]\npath = '/'\naccess = 'public'\ncheck = 'tool-argument/v1'\nsource = 'check_request'\n",
    );
    let expected = Config {
        listen: "0.0.0.0:8443".parse().unwrap(),
        admin_listen: "127.0.0.1:9443".parse().unwrap(),
        tls: Tls::SelfSigned { names: vec!["localhost".into()], out: None },
        limits: Limits {
            max_body_bytes: 1024 * 1024,
            handshake: Duration::from_secs(4),
            header: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            body_timeout: Duration::from_secs(5),
            check_timeout: Duration::from_secs(8),
            check_steps: 200_000_000,
            max_connections: 10_000,
            max_connections_per_client: 1000,
            drain: Duration::from_secs(10),
        },
        services: Vec::new(),
        signing: None,
        x402: None,
        store: embedded(),
        docks: vec![DockConfig {
            path: "/".into(),
            access: Access::Public,
            check: Check::Argument(Source::CheckRequest),
            require: None,
            anchors: AnchorMode::Codes,
            rate_limit: Some(rate(200, 400)),
        }],
    };
    assert_eq!(config, Ok(expected));
}

const EVERY_SETTING: &str = r#"
[server]
listen = "[::1]:443"
admin_listen = "0.0.0.0:80"
[tls]
self_signed = ["a.example", "*.b.example", "::1", "10.0.0.1"]
self_signed_out = "../out/ca.pem"
[limits]
max_body_bytes = 0x400
handshake_ms = 1
header_ms = 2
idle_ms = 3
body_timeout_ms = 4
check_timeout_ms = 4
check_steps = 6
max_connections = 8
max_connections_per_client = 7
drain_ms = 0
[[dock]]
path = "/a/b-c_d.e/~f"
access = "managed"
keys_file = "keys"
check = "tool-argument/v1"
source = "arguments"
schema = "s.json"
require = ["without_r9_enum_case_match", "no_type_mismatch"]
anchors = "per_defect"
rate_limit = { per_second = 1, burst = 1_000_000 }
[[dock]]
path = "/a/b-c_d.e/~f/"
access = "public"
check = "tool-argument/v1"
source = "check_request"
require = []
anchors = "codes"
rate_limit = "off"
[[dock]]
path = "/calls"
access = "public"
check = "tool-argument/v1"
source = "tool_call"
tools = "tools.json"
format = "anthropic"
uncovered = "json-schema"
strict = true
require = ["single_tool_call"]
anchors = "per_defect"
rate_limit = "off"
[[dock]]
path = "/values"
access = "public"
check = "json-schema"
source = "arguments"
schema = "value.json"
require = ["keyword_required"]
rate_limit = "off"
[[dock]]
path = "/any-calls"
access = "public"
check = "json-schema"
source = "tool_call"
tools = "tools.json"
rate_limit = "off"
[[dock]]
path = "/catalogues"
access = "public"
check = "token-efficiency/v1"
require = ["no_schema_identity_groups"]
rate_limit = "off"
"#;

#[test]
fn reads_every_setting() {
    let config = load(EVERY_SETTING);
    let expected = Config {
        listen: "[::1]:443".parse().unwrap(),
        admin_listen: "0.0.0.0:80".parse().unwrap(),
        tls: Tls::SelfSigned {
            names: ["a.example", "*.b.example", "::1", "10.0.0.1"].map(String::from).to_vec(),
            out: Some("/base/../out/ca.pem".into()),
        },
        limits: Limits {
            max_body_bytes: 1024,
            handshake: Duration::from_millis(1),
            header: Duration::from_millis(2),
            idle: Duration::from_millis(3),
            body_timeout: Duration::from_millis(4),
            check_timeout: Duration::from_millis(4),
            check_steps: 6,
            max_connections: 8,
            max_connections_per_client: 7,
            drain: Duration::ZERO,
        },
        services: Vec::new(),
        signing: None,
        x402: None,
        store: embedded(),
        docks: vec![
            DockConfig {
                path: "/a/b-c_d.e/~f".into(),
                access: Access::Managed(KeySource::File("/base/keys".into())),
                check: Check::Argument(Source::Arguments { schema: "/base/s.json".into() }),
                require: Some(vec!["without_r9_enum_case_match".into(), "no_type_mismatch".into()]),
                anchors: AnchorMode::PerDefect,
                rate_limit: Some(rate(1, 1_000_000)),
            },
            DockConfig {
                path: "/a/b-c_d.e/~f/".into(),
                access: Access::Public,
                check: Check::Argument(Source::CheckRequest),
                require: Some(vec![]),
                anchors: AnchorMode::Codes,
                rate_limit: None,
            },
            DockConfig {
                path: "/calls".into(),
                access: Access::Public,
                check: Check::Argument(Source::ToolCall {
                    tools: Tools {
                        file: "/base/tools.json".into(),
                        form: Some(Form::Anthropic),
                        strict: true,
                    },
                    or_json_schema: true,
                }),
                require: Some(vec!["single_tool_call".into()]),
                anchors: AnchorMode::PerDefect,
                rate_limit: None,
            },
            DockConfig {
                path: "/values".into(),
                access: Access::Public,
                check: Check::JsonSchema(SchemaSource::Arguments { schema: "/base/value.json".into() }),
                require: Some(vec!["keyword_required".into()]),
                anchors: AnchorMode::Codes,
                rate_limit: None,
            },
            DockConfig {
                path: "/any-calls".into(),
                access: Access::Public,
                check: Check::JsonSchema(SchemaSource::ToolCall(Tools {
                    file: "/base/tools.json".into(),
                    form: None,
                    strict: false,
                })),
                require: None,
                anchors: AnchorMode::Codes,
                rate_limit: None,
            },
            DockConfig {
                path: "/catalogues".into(),
                access: Access::Public,
                check: Check::Profile,
                require: Some(vec!["no_schema_identity_groups".into()]),
                anchors: AnchorMode::Codes,
                rate_limit: None,
            },
        ],
    };
    assert_eq!(config, Ok(expected));
}

#[test]
fn managed_docks_have_no_rate_limit_and_their_keys_come_from_where_the_file_says() {
    let config = load(GOOD).unwrap();
    assert_eq!(config.tls, Tls::Files { cert: "/base/tls.crt".into(), key: "/etc/tls.key".into() });
    assert_eq!(config.docks[0].access, Access::Managed(KeySource::Env("MILLWORK_VERIFIER_KEYS".into())));
    assert_eq!(config.docks[0].rate_limit, None);
    assert_eq!(config.docks[1].rate_limit, Some(rate(200, 400)));
}

#[test]
fn a_limit_left_out_gives_way_to_the_limit_that_caps_it() {
    let config =
        load(&edited("max_body_bytes = 65_536", "check_timeout_ms = 300\nmax_connections = 20")).unwrap();
    assert_eq!(config.limits.body_timeout, Duration::from_millis(300));
    assert_eq!(config.limits.max_connections_per_client, 20);
}
