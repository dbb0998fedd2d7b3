//! House rules that no lint knows: which module may use which, what the pure ones must not touch, module
//! documentation, file length, reasons for allowances, and no machine's own paths.
//!
//! An exception is listed with its reason; one that matches nothing fails, so the list cannot go stale.

mod source;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use source::{allowed_without_reason, paths, tokens, without_tests};

/// A file that may break a rule, and why.
struct Exception {
    rule: &'static str,
    file: &'static str,
    /// What it may do, as the violation says it.
    what: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[];

/// Each module at the top of `src`, and those that it may use.
const MODULES: &[(&str, &[&str])] = &[
    ("budget", &[]),
    ("fault", &[]),
    ("contract", &[]),
    ("json", &["budget"]),
    ("argument", &["json", "budget"]),
    // Of the argument check, its patterns.
    ("json_schema", &["argument", "json", "budget"]),
    ("profile", &["json", "budget"]),
    ("tools", &["json"]),
    ("corpus", &["contract", "argument", "profile", "json", "budget"]),
    ("dock", &["argument", "json_schema", "profile", "tools", "json", "budget", "fault"]),
    ("utc", &[]),
    ("watch", &[]),
    ("config", &["dock", "tools", "service", "budget", "fault"]),
    ("service", &["argument", "profile", "contract", "json", "budget", "fault", "utc", "watch"]),
    ("explain", &["contract"]),
    (
        "server",
        &[
            "config",
            "dock",
            "service",
            "corpus",
            "argument",
            "json_schema",
            "profile",
            "json",
            "budget",
            "fault",
            "utc",
            "watch",
        ],
    ),
    (
        "cli",
        &[
            "server",
            "service",
            "corpus",
            "utc",
            "config",
            "explain",
            "contract",
            "dock",
            "argument",
            "json_schema",
            "profile",
            "tools",
            "json",
            "budget",
            "fault",
        ],
    ),
    ("main", &["cli"]),
];

/// Modules without async, clock, environment, files, network, threads or output.
const PURE: &[&str] =
    &["budget", "fault", "contract", "corpus", "json", "argument", "json_schema", "profile", "tools", "dock"];
const IMPURE_CRATES: &[&str] = &[
    "tokio",
    "hyper",
    "hyper_util",
    "http",
    "tracing",
    "tracing_subscriber",
    "log",
    "rustls",
    "governor",
    "futures",
];
const IMPURE_STD: &[&str] = &["time", "env", "fs", "net", "process", "thread", "os"];
const IMPURE_MACROS: &[&str] = &["println", "print", "eprintln", "eprint", "dbg"];

/// The longest a Rust file may be, in lines.
const MAX_LINES: usize = 500;

/// Folders that are no part of the repository.
const NOT_OURS: &[&str] = &[".git", "target", "node_modules", "fuzz/corpus", "fuzz/artifacts"];
/// Folders at the root of some machine; a path that begins so is nobody else's.
const MACHINE_FOLDERS: &[&str] = &["work", "root", "farm", "home", "Users"];

#[test]
fn modules_use_only_what_lies_below_them() {
    judge("direction", rust_files("src"), |file, text| {
        let Some(module) = top_module(file) else { return Vec::new() };
        let Some((_, below)) = MODULES.iter().find(|(name, _)| *name == module) else {
            return vec![format!("the module {module} has no place in MODULES")];
        };
        let used = modules_used(file, text);
        used.into_iter()
            .filter(|used| *used != module && !below.contains(used))
            .map(|used| format!("{module} uses {used}"))
            .collect()
    });
}

#[test]
fn pure_modules_touch_nothing_outside() {
    judge("purity", rust_files("src"), |file, text| {
        let pure = top_module(file).is_some_and(|module| PURE.contains(&module));
        if pure { impurities(text) } else { Vec::new() }
    });
}

/// The kit reads the contract by itself: a fault of the server cannot hide in shared code.
#[test]
fn the_kit_uses_nothing_of_the_server() {
    judge("independence", rust_files("conformance"), |_, text| {
        let named = tokens(text).contains(&"millwork_dock");
        if named { vec!["uses millwork_dock".to_owned()] } else { Vec::new() }
    });
    let manifest = fs::read_to_string(root().join("conformance/Cargo.toml")).expect("the kit's manifest");
    let mut lines = manifest.lines().map(str::trim_start);
    assert!(!lines.any(|line| line.starts_with("millwork") || line.contains("path = \"..")), "{manifest}");
}

#[test]
fn every_file_begins_with_its_documentation() {
    judge("documentation", all_rust_files(), |_, text| {
        let documented = text.lines().next().is_some_and(|line| line.starts_with("//! "));
        if documented { Vec::new() } else { vec!["no `//!` in the first line".to_owned()] }
    });
}

#[test]
fn no_file_is_too_long() {
    judge("length", all_rust_files(), |_, text| {
        let lines = text.lines().count();
        if lines <= MAX_LINES { Vec::new() } else { vec![format!("{lines} lines")] }
    });
}

#[test]
fn every_allowance_has_a_reason() {
    judge("reason", all_rust_files(), |_, text| allowed_without_reason(&tokens(text)));
}

#[test]
fn no_path_of_a_machine_is_written_down() {
    judge("paths", files("", |_| true), |_, text| machine_paths(text));
}

#[test]
fn the_rules_find_what_they_look_for() {
    let text = "use crate::{json::Document, server::x};\n fn f() { super::super::cli::y(); }\n#[cfg(test)] mod tests { use crate::config; }";
    assert_eq!(modules_used(Path::new("src/argument/walk.rs"), text), ["json", "server", "cli"]);
    let text = "use std::{io, time::Instant}; use tokio::spawn; fn f() { println!(\"{}\", std::env::args()); hyper::x(); }";
    assert_eq!(impurities(text), ["std::time", "tokio", "println!", "std::env", "hyper"]);
    let found = machine_paths(&format!("a/work/b ./root/c \"{}home/d\" ({}work/e)", '/', '/'));
    assert_eq!(found, [format!("{}home/", '/'), format!("{}work/", '/')]);
}

/// Fails with all violations of `rule` that are no exception, and with exceptions that match none.
fn judge(rule: &str, files: Vec<PathBuf>, violations: impl Fn(&Path, &str) -> Vec<String>) {
    assert!(files.len() > 1, "hardly any files to look at");
    let mut unused: Vec<&Exception> = EXCEPTIONS.iter().filter(|exception| exception.rule == rule).collect();
    let mut report = String::new();
    for path in files {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        for what in violations(&path, &text) {
            let excepted =
                |exception: &&Exception| Path::new(exception.file) == path && exception.what == what;
            if !EXCEPTIONS
                .iter()
                .filter(|exception| exception.rule == rule)
                .any(|exception| excepted(&exception))
            {
                writeln!(report, "{}: {what}", path.display()).expect("writing to a string");
            }
            unused.retain(|exception| !excepted(exception));
        }
    }
    for exception in unused {
        writeln!(report, "{}: the exception matches nothing ({})", exception.file, exception.reason)
            .expect("writing to a string");
    }
    assert!(report.is_empty(), "rule `{rule}`:\n{report}");
}

/// The top-level modules of this crate that `text`, which stands in `file`, names outside its tests.
fn modules_used(file: &Path, text: &str) -> Vec<&'static str> {
    let tokens = tokens(text);
    let (code, _) = without_tests(&tokens);
    let mut used = Vec::new();
    for path in paths(&code) {
        let name = match path.as_slice() {
            ["crate" | "millwork_dock", name, ..] => Some(*name),
            ["super", ..] => above(file, &path),
            _ => None,
        };
        let known = MODULES.iter().map(|(module, _)| *module).find(|module| Some(*module) == name);
        used.extend(known.filter(|module| !used.contains(module)));
    }
    used
}

/// The top-level module that a path of `super`s leads to, if it leads up to the crate's root.
fn above<'a>(file: &Path, path: &[&'a str]) -> Option<&'a str> {
    let ups = path.iter().take_while(|name| **name == "super").count();
    let below_src = file.components().count() - 1;
    let depth = if file.file_name()? == "mod.rs" { below_src - 1 } else { below_src };
    if ups == depth { path.get(ups).copied() } else { None }
}

/// What a pure module must not name, as far as `text` does outside its tests.
fn impurities(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let (code, _) = without_tests(&tokens);
    let found = paths(&code).into_iter().filter_map(|path| match path.as_slice() {
        ["std" | "core", module, ..] if IMPURE_STD.contains(module) => Some(format!("std::{module}")),
        [name, ..] if IMPURE_CRATES.contains(name) => Some((*name).to_owned()),
        [name] if IMPURE_MACROS.contains(name) => Some(format!("{name}!")),
        _ => None,
    });
    found.collect()
}

/// Absolute paths that only some machine has.
fn machine_paths(text: &str) -> Vec<String> {
    let starts = text.match_indices('/').filter(|(at, _)| {
        !text[..*at].ends_with(|c: char| c.is_alphanumeric() || ['.', '-', '_', '}', '*', ':'].contains(&c))
    });
    let found = starts.filter_map(|(at, _)| {
        let (folder, after) = text[at + 1..].split_once('/')?;
        let goes_on = after.starts_with(|c: char| c.is_alphanumeric() || c == '.');
        (goes_on && MACHINE_FOLDERS.contains(&folder)).then(|| format!("/{folder}/"))
    });
    found.collect()
}

/// `json` for `src/json/parse.rs`; none for `src/lib.rs`, which only declares, and for test files.
fn top_module(file: &Path) -> Option<&str> {
    let inside = file.strip_prefix("src").ok()?;
    let first = Path::new(inside.components().next()?.as_os_str()).file_stem()?.to_str()?;
    if first == "lib" || is_test_module(file) { None } else { Some(first) }
}

/// Whether this module, or one around it, is declared under `#[cfg(test)]`.
fn is_test_module(file: &Path) -> bool {
    file.ancestors().any(|module| {
        let (Some(name), Some(folder)) = (module.file_stem().and_then(|name| name.to_str()), module.parent())
        else {
            return false;
        };
        let parents = [folder.join("mod.rs"), folder.with_extension("rs"), folder.join("lib.rs")];
        parents.iter().filter_map(|parent| fs::read_to_string(root().join(parent)).ok()).any(|text| {
            let tokens = tokens(&text);
            without_tests(&tokens).1.contains(&name)
        })
    })
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn all_rust_files() -> Vec<PathBuf> {
    rust_files("")
}

fn rust_files(below: &str) -> Vec<PathBuf> {
    files(below, |path| path.extension().is_some_and(|extension| extension == "rs"))
}

/// The files of the repository below a folder, relative to its root, in order.
fn files(below: &str, wanted: impl Fn(&Path) -> bool + Copy) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(below)];
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(root().join(&folder)).expect("the repository can be read").filter_map(Result::ok)
        {
            let path = folder.join(entry.file_name());
            let ours = !NOT_OURS.iter().any(|name| path.ends_with(name));
            let kind = entry.file_type().expect("a file has a type");
            if ours && kind.is_dir() {
                folders.push(path);
            } else if ours && kind.is_file() && wanted(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
