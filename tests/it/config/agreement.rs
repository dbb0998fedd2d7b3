//! The loader, `contract/dock.schema.json` and `deploy/` tell the same story.

use super::{GOOD, edited, in_repository, load};
use millwork_dock::config::keys::{BOUNDS, FACILITATOR_TIMES, RATES, TABLES};
use millwork_dock::config::{Access, Check, Config, Source};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn schema_text() -> Value {
    serde_json::from_str(&std::fs::read_to_string(in_repository("contract/dock.schema.json")).unwrap())
        .unwrap()
}

fn schema() -> jsonschema::Validator {
    let schema = schema_text();
    assert!(jsonschema::meta::is_valid(&schema), "not a valid schema");
    jsonschema::draft202012::new(&schema).unwrap()
}

fn as_json(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn deploy(name: &str) -> String {
    std::fs::read_to_string(in_repository("deploy").join(name)).unwrap()
}

/// Where the schema keeps the properties of a table of the file.
fn properties<'s>(schema: &'s Value, table: &str) -> &'s Value {
    let at = match table {
        "" => "/properties".to_owned(),
        "dock" | "service" => format!("/$defs/{table}/properties"),
        "rate_limit" => "/$defs/dock/properties/rate_limit/oneOf/1/properties".to_owned(),
        table => format!("/properties/{table}/properties"),
    };
    schema.pointer(&at).unwrap_or_else(|| panic!("no {at}"))
}

#[test]
fn the_schema_has_every_setting_with_its_bounds_and_no_other() {
    let schema = schema_text();
    for table in TABLES {
        let described = properties(&schema, table.name);
        let names: BTreeSet<&str> = described.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, table.keys.iter().copied().collect(), "[{}]", table.name);
        for (name, property) in described.as_object().unwrap() {
            assert!(
                property["description"].as_str().is_some_and(|text| text.len() > 10),
                "{name} is explained"
            );
        }
    }
    let limits = TABLES.iter().find(|table| table.name == "limits").unwrap();
    assert_eq!(limits.keys, BOUNDS.iter().map(|bound| bound.key).collect::<Vec<_>>());
    let times = FACILITATOR_TIMES.iter().map(|bound| ("x402", bound));
    let rates = RATES.iter().map(|bound| ("rate_limit", bound));
    for (table, bound) in BOUNDS.iter().map(|b| ("limits", b)).chain(rates).chain(times) {
        let property = &properties(&schema, table)[bound.key];
        assert_eq!(property["minimum"], bound.min, "{}", bound.key);
        assert_eq!(property["maximum"], bound.max, "{}", bound.key);
        if table != "rate_limit" {
            assert_eq!(property["default"], bound.default, "{}", bound.key);
        }
    }
}

/// Mistakes that lie in how two settings go together, or beyond the file: the loader alone sees them.
fn beyond_a_schema(mistakes: &millwork_dock::config::Mistakes) -> bool {
    let beyond = [
        "another port",
        "has already",
        "more than check_timeout_ms",
        "more than max_connections",
        "no anchor",
    ];
    mistakes.list().iter().all(|mistake| beyond.iter().any(|part| mistake.what.contains(part)))
}

/// Loader and schema agree on `text`, unless only the loader can know better. Whether both accept.
fn agree(validator: &jsonschema::Validator, text: &str) -> bool {
    let valid = validator.is_valid(&as_json(text));
    match load(text) {
        Ok(_) => assert!(valid, "only the schema refuses: {:?}\n{text}", validator.validate(&as_json(text))),
        Err(mistakes) => {
            assert_eq!(valid, beyond_a_schema(&mistakes), "the schema says {valid} to:\n{mistakes}\n{text}");
        }
    }
    valid
}

#[test]
fn loader_and_schema_agree_on_every_single_mistake() {
    let validator = schema();
    assert!(agree(&validator, GOOD));
    for (from, to, ..) in super::mistakes::ONE_MISTAKE {
        // One that JSON cannot write and TOML need not read.
        if !to.contains("99999999999999999999") {
            agree(&validator, &edited(from, to));
        }
    }
}

#[test]
fn loader_and_schema_agree_on_every_setting_with_every_kind_of_value() {
    const VALUES: &[&str] = &[
        "0",
        "1",
        "-1",
        "9000",
        "9001",
        "65536",
        "100000000000",
        "1.5",
        "true",
        "1979-05-27",
        "\"\"",
        "\"x\"",
        "\"/x\"",
        "\"off\"",
        "\"public\"",
        "\"managed\"",
        "\"arguments\"",
        "\"check_request\"",
        "\"tool_call\"",
        "\"gemini\"",
        "\"codes\"",
        "\"per_defect\"",
        "\"tool-argument/v1\"",
        "\"json-schema\"",
        "\"token-efficiency/v1\"",
        "\"127.0.0.1:1\"",
        "\"[::1]:0\"",
        "\"::1\"",
        "\"*.a-b.example\"",
        "\"-a\"",
        "\"a..b\"",
        "\"/a/b/\"",
        "\"/..\"",
        "\"/...\"",
        "\"/a b\"",
        "\"mwdock_x\"",
        "\"_X9\"",
        "\"9X\"",
        "[]",
        "[\"x\"]",
        "[\"\"]",
        "[\"::1\", \"a.example\"]",
        "[\"a b\"]",
        "[1]",
        "[\"no_type_mismatch\"]",
        "[\"no_type_mismatch\", \"no_type_mismatch\"]",
        "{}",
        "{ per_second = 1, burst = 2 }",
        "{ per_second = 1 }",
        "{ per_second = 0, burst = 2 }",
        "{ burst = \"x\", per_second = 1 }",
        "{ per_second = 1, burst = 2, more = 3 }",
        "[{}]",
        "\"x402\"",
        "\"none\"",
        "\"split-profile\"",
        "\"solana\"",
        "\"solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1\"",
        "\"11111111111111111111111111111111\"",
        "[\"11111111111111111111111111111111\"]",
        "\"https://facilitator.example/x402\"",
        "\"http://facilitator.example\"",
        "\"http://127.0.0.1:1/\"",
        "\"sqlite:x\"",
        "\"sqlite:\"",
        "\"postgres://localhost/dock\"",
    ];
    let validator = schema();
    let (mut tried, mut accepted) = (0, 0);
    for base in bases() {
        for table in TABLES.iter().filter(|table| table.name.is_empty() || base.contains_key(table.name)) {
            for key in table.keys.iter().chain(&["other"]) {
                for value in VALUES {
                    let text = with_setting(&base, table.name, key, Some(value));
                    tried += 1;
                    accepted += usize::from(agree(&validator, &text));
                }
                agree(&validator, &with_setting(&base, table.name, key, None));
            }
        }
    }
    assert!(tried > 4000 && accepted > 200, "the values tell something: {accepted} of {tried} accepted");
}

/// A base for each shape that a good configuration can have.
fn bases() -> Vec<toml::Table> {
    let parse = |text: &str| text.parse::<toml::Table>().unwrap();
    let public = "[server]\n[limits]\n[tls]\nself_signed = ['a']\n[[dock]]\npath = '/'\naccess = 'public'\n\
                  check = 'tool-argument/v1'\nsource = 'check_request'\n";
    let operation = "[tls]\nself_signed = ['a']\n[[service]]\nop = 'argument-check'\npayment = 'x402'\n\
                     [signing]\nkey = 'k'\n[store]\n[x402]\nfacilitator = 'https://f.example'\n\
                     pay_to = '11111111111111111111111111111111'\nnetwork = 'solana-devnet'\n\
                     fee_payers = ['11111111111111111111111111111111']\n";
    vec![parse(GOOD), parse(public), parse(operation)]
}

/// `base` with `key` of a table (the first dock, for docks) set to `value`, or left out.
fn with_setting(base: &toml::Table, table: &str, key: &str, value: Option<&str>) -> String {
    let mut whole = base.clone();
    let place = match table {
        "" => &mut whole,
        "dock" | "service" => whole[table][0].as_table_mut().unwrap(),
        table => whole[table].as_table_mut().unwrap(),
    };
    match value {
        Some(value) => {
            place.insert(key.to_owned(), format!("v = {value}").parse::<toml::Table>().unwrap()["v"].clone())
        }
        None => place.remove(key),
    };
    toml::to_string(&whole).unwrap()
}

#[test]
fn what_is_deployed_loads_and_fits_the_schema() {
    let validator = schema();
    for name in ["quickstart.toml", "operations.toml", "dock.toml"] {
        let config = Config::load(&in_repository("deploy").join(name)).unwrap();
        assert!(validator.is_valid(&as_json(&deploy(name))), "{name}");
        for dock in config.docks {
            if let Check::Argument(Source::Arguments { schema }) = dock.check {
                let text = std::fs::read_to_string(&schema).unwrap();
                assert!(serde_json::from_str::<Value>(&text).unwrap().is_object(), "{}", schema.display());
            }
        }
    }
    let quickstart = Config::load(&in_repository("deploy/quickstart.toml")).unwrap();
    assert!(quickstart.listen.ip().is_loopback() && quickstart.admin_listen.ip().is_loopback());
    assert!(quickstart.docks.iter().all(|dock| dock.access == Access::Public));
}

/// Where the part of `dock.toml` about published operations begins.
const OPERATIONS: &str = "# A published operation:";

/// The operations that `dock.toml` shows, taken in whole but for what stands for another choice.
#[test]
fn the_commented_operations_load() {
    let text = deploy("dock.toml");
    let (docks, operations) = text.split_once(OPERATIONS).expect("a part about operations");
    let mut uncommented = docks.to_owned();
    for line in operations.lines().filter_map(|line| line.strip_prefix("# ")) {
        let is_header = line.starts_with('[') && line.ends_with(']');
        let is_setting = line
            .split_once(" = ")
            .is_some_and(|(key, _)| key != "url_env" && TABLES.iter().any(|table| table.keys.contains(&key)));
        if is_header || is_setting {
            writeln!(uncommented, "{line}").unwrap();
        }
    }
    let config = load(&uncommented).unwrap();
    assert_eq!(config.services.len(), 1);
    assert!(config.x402.is_some() && config.signing.is_some_and(|signing| signing.retired.len() == 1));
    let service = &config.services[0];
    assert_eq!((service.base.as_str(), service.is_paid), ("/argument-check", false));
    assert_eq!(config.store.house_wallets.len(), 1);
    let times = config.x402.map(|x402| (x402.verify_timeout, x402.settle_timeout));
    let defaults = FACILITATOR_TIMES.map(|bound| std::time::Duration::from_millis(bound.default));
    assert_eq!(times, Some((defaults[0], defaults[1])));
    assert!(schema().is_valid(&as_json(&uncommented)));
}

/// `dock.toml` with its commented settings taken in, but for those that stand for another choice.
fn uncommented() -> String {
    const OTHER_CHOICES: &[&str] = &[
        "self_signed",
        "self_signed_out",
        "keys_file",
        "rate_limit",
        "require",
        "tools",
        "format",
        "strict",
        "uncovered",
    ];
    let mut out = String::new();
    let text = deploy("dock.toml");
    let (docks, _) = text.split_once(OPERATIONS).expect("a part about operations");
    for line in docks.lines() {
        let setting = line.strip_prefix("# ").filter(|rest| {
            rest.split_once(" = ").is_some_and(|(key, _)| {
                TABLES.iter().any(|table| table.keys.contains(&key)) && !OTHER_CHOICES.contains(&key)
            })
        });
        writeln!(out, "{}", setting.unwrap_or(line)).unwrap();
    }
    out
}

#[test]
fn the_commented_example_shows_every_setting_and_its_true_default() {
    let text = deploy("dock.toml");
    for table in TABLES {
        for key in table.keys {
            let written = match table.name {
                "" => vec![
                    format!("[{key}]"),
                    format!("[[{key}]]"),
                    format!("# [{key}]"),
                    format!("# [[{key}]]"),
                ],
                "rate_limit" => vec![format!("{key} = ")],
                _ => vec![format!("\n{key} = "), format!("\n# {key} = ")],
            };
            assert!(written.iter().any(|form| text.contains(form)), "[{}] {key}", table.name);
        }
    }
    let (as_it_is, with_defaults) = (load(&text).unwrap(), load(&uncommented()).unwrap());
    assert_eq!(as_it_is, with_defaults);
    let text = text.split_once(OPERATIONS).unwrap().0;
    let lines =
        |text: &str| text.lines().filter(|line| !line.starts_with('#') && line.contains(" = ")).count();
    assert_eq!(lines(&uncommented()) - lines(text), 2 + BOUNDS.len() + 1, "server, limits and anchors");
}
