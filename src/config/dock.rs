//! One `[[dock]]` of the configuration.

use super::rate;
use super::read::{At, Read, Reported, Section, Walk, nearest, shown};
use super::{Access, AnchorMode, Check, DockConfig, KeySource, SchemaSource, Source, Tools};
use crate::dock::{argument, json_schema, profile, tool_call};
use crate::tools::Form;
use std::collections::HashMap;

/// The longest URL path of a dock, in bytes.
const MAX_PATH: usize = 512;

/// Paths that a dock has, and the dock's name.
type Taken<'a> = HashMap<&'a str, String>;

/// The docks of the file.
pub(super) fn read_all<'a>(walk: &mut Walk<'a>, sections: Vec<Read<Section<'a>>>) -> Read<Vec<DockConfig>> {
    let mut taken = Taken::new();
    let docks = sections.into_iter().map(|section| read(walk, &section?, &mut taken));
    // All of them first: collecting into a `Result` would stop at the first that failed.
    let docks: Vec<Read<DockConfig>> = docks.collect();
    docks.into_iter().collect()
}

fn read<'a>(walk: &mut Walk<'a>, section: &Section<'a>, taken: &mut Taken<'a>) -> Read<DockConfig> {
    let path = read_path(walk, section, taken);
    let access = read_access(walk, section);
    let kind = read_kind(walk, section);
    let check = read_check(walk, section, kind);
    let require = read_require(walk, section, kind);
    let anchors = read_anchors(walk, section, kind);
    // Off for managed docks: Millwork's calls come from few addresses and are never tried again.
    let is_public = matches!(access, Ok(Access::Public));
    let rate_limit = rate::read(walk, section, is_public.then(|| rate::limit(200, 400)));
    Ok(DockConfig {
        path: path?,
        access: access?,
        check: check?,
        require: require?,
        anchors: anchors?,
        rate_limit: rate_limit?,
    })
}

pub(super) fn missing(walk: &mut Walk<'_>, section: &Section<'_>, key: &str, fix: &str) -> Reported {
    walk.report(section.line(), section.path(key), format!("is missing; {fix}"))
}

fn read_path<'a>(walk: &mut Walk<'a>, section: &Section<'a>, taken: &mut Taken<'a>) -> Read<String> {
    const KEY: &str = "path";
    let Some(At { line, value }) = walk.text(section, KEY)? else {
        return Err(missing(
            walk,
            section,
            KEY,
            "write the URL path that Millwork will call, such as \"/refunds\"",
        ));
    };
    if let Some(wrong) = wrong_with_path(value) {
        let what = format!("is \"{}\"; {wrong}", shown(value));
        return Err(walk.report(Some(line), section.path(KEY), what));
    }
    if let Some(other) = taken.get(value) {
        let what = format!("is \"{value}\", which {other} has already; every dock needs a path of its own");
        return Err(walk.report(Some(line), section.path(KEY), what));
    }
    taken.insert(value, section.name().to_owned());
    Ok(value.to_owned())
}

/// Requests are matched byte for byte, so a path must be one that every client sends unchanged.
pub(super) fn wrong_with_path(path: &str) -> Option<&'static str> {
    const ALLOWED: &[u8] = b"-._~!$&'()*+,;=:@";
    let Some(rest) = path.strip_prefix('/') else { return Some("it must start with /") };
    if path.len() > MAX_PATH {
        return Some("it must be at most 512 bytes long");
    }
    if path.contains(['?', '#']) {
        return Some("it must be the path alone, without query or fragment");
    }
    if !rest.bytes().all(|byte| byte == b'/' || byte.is_ascii_alphanumeric() || ALLOWED.contains(&byte)) {
        return Some(
            "it may hold ASCII letters, digits and - . _ ~ ! $ & ' ( ) * + , ; = : @ only, nothing encoded",
        );
    }
    let mut segments: Vec<&str> = rest.split('/').collect();
    if segments.last() == Some(&"") {
        segments.pop();
    }
    if segments.iter().any(|segment| matches!(*segment, "" | "." | "..")) {
        return Some("no part of it may be empty, . or .., since clients rewrite those");
    }
    None
}

fn read_access<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<Access> {
    const KEY: &str = "access";
    const VALUES: &str = "write access = \"managed\" (only callers that send one of its keys) or \
                          access = \"public\" (anyone); there is no default";
    let access = walk.text(section, KEY);
    let env = read_env_name(walk, section);
    let file = walk.file(section, "keys_file");
    let Some(At { line, value }) = access? else { return Err(missing(walk, section, KEY, VALUES)) };
    let (env, file) = (env?, file?);
    match value {
        "public" => {
            let extra = ["keys_env", "keys_file"].into_iter().find(|key| section.has(key));
            let Some(extra) = extra else { return Ok(Access::Public) };
            let what = "names keys, but access = \"public\" asks for none; remove it, or write access = \"managed\"";
            Err(walk.report(Some(line), section.path(extra), what))
        }
        "managed" => match (env, file) {
            (Some(name), None) => Ok(Access::Managed(KeySource::Env(name))),
            (None, Some(file)) => Ok(Access::Managed(KeySource::File(file))),
            (None, None) => Err(walk.report(
                Some(line),
                section.path(KEY),
                "is \"managed\", which needs keys; add keys_env = \"MILLWORK_VERIFIER_KEYS\" (a variable's name) or keys_file = \"…\"",
            )),
            (Some(_), Some(_)) => Err(walk.report(
                Some(line),
                section.path("keys_file"),
                "and keys_env are both given; keep one source of the keys",
            )),
        },
        other => Err(walk.report(Some(line), section.path(KEY), format!("is \"{}\"; {VALUES}", shown(other)))),
    }
}

/// The variable's name. Its value is never shown: someone may have put the key itself here.
fn read_env_name<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<Option<String>> {
    const KEY: &str = "keys_env";
    let Some(At { line, value }) = walk.text(section, KEY)? else { return Ok(None) };
    let name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let good =
        value.bytes().all(name_byte) && value.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if good && !value.starts_with("solverapi_live_") && !value.starts_with(super::KEY_PREFIX) {
        return Ok(Some(value.to_owned()));
    }
    let what = "must be the name of an environment variable, such as \"MILLWORK_VERIFIER_KEYS\", not a key \
                (a key never goes into this file; if one did, replace it)";
    Err(walk.report(Some(line), section.path(KEY), what))
}

/// A check and its source, before the files that go with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Argument(SourceKind),
    JsonSchema(SourceKind),
    Profile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceKind {
    Arguments,
    ToolCall,
    CheckRequest,
}

impl Kind {
    fn source(self) -> Option<SourceKind> {
        match self {
            Kind::Argument(source) | Kind::JsonSchema(source) => Some(source),
            Kind::Profile => None,
        }
    }
}

fn read_kind<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<Kind> {
    const CHECK: &str = "check";
    const CHECKS: &str = "write check = \"tool-argument/v1\" (a call's arguments, with repairs), check = \"json-schema\" \
                          (any value, JSON Schema in full) or check = \"token-efficiency/v1\" (a tool catalogue)";
    let check: Read<fn(SourceKind) -> Kind> = match walk.text(section, CHECK) {
        Ok(Some(At { value: "tool-argument/v1", .. })) => Ok(Kind::Argument),
        Ok(Some(At { value: "json-schema", .. })) => Ok(Kind::JsonSchema),
        Ok(Some(At { value: "token-efficiency/v1", .. })) => return read_profile(walk, section),
        Ok(Some(At { line, value })) => {
            let what = format!("is \"{}\", which is no check; {CHECKS}", shown(value));
            Err(walk.report(Some(line), section.path(CHECK), what))
        }
        Ok(None) => Err(missing(walk, section, CHECK, CHECKS)),
        Err(reported) => Err(reported),
    };
    // Beside a check that is not offered, one mistake is enough to go on with: it may need no source.
    let excused = check.as_ref().err().copied().filter(|_| section.has(CHECK));
    let source = read_source(walk, section, excused);
    let kind = check?(source?);
    keep_apart(walk, section, kind)
}

/// A missing source goes with what is `excused`, if something is.
fn read_source<'a>(
    walk: &mut Walk<'a>,
    section: &Section<'a>,
    excused: Option<Reported>,
) -> Read<SourceKind> {
    const SOURCE: &str = "source";
    const SOURCES: &str = "write source = \"arguments\" (the candidate is what schema describes), \
                           source = \"tool_call\" (it holds calls of the tools in tools) or, for tool-argument/v1, \
                           source = \"check_request\" (it brings its schema)";
    match walk.text(section, SOURCE)? {
        Some(At { value: "arguments", .. }) => Ok(SourceKind::Arguments),
        Some(At { value: "tool_call", .. }) => Ok(SourceKind::ToolCall),
        Some(At { value: "check_request", .. }) => Ok(SourceKind::CheckRequest),
        Some(At { line, value }) => {
            let what = format!("is \"{}\", which is no source; {SOURCES}", shown(value));
            Err(walk.report(Some(line), section.path(SOURCE), what))
        }
        None => Err(excused.unwrap_or_else(|| missing(walk, section, SOURCE, SOURCES))),
    }
}

/// What a kind of dock has no use for is a mistake, told key by key.
fn keep_apart<'a>(walk: &mut Walk<'a>, section: &Section<'a>, kind: Kind) -> Read<Kind> {
    let mut read = Ok(kind);
    let mut refuse = |key: &str, wrong: bool, what: &str| {
        if wrong && section.has(key) {
            read = Err(walk.report(section.line_of(walk, key), section.path(key), what.to_owned()));
        }
    };
    let source = kind.source();
    if matches!(kind, Kind::JsonSchema(SourceKind::CheckRequest)) {
        let what = "is \"check_request\", which goes with check = \"tool-argument/v1\"; write source = \"arguments\" or \
                    source = \"tool_call\"";
        refuse("source", true, what);
    }
    let schema = "goes with source = \"arguments\"; a check_request brings its own schema, and a tool_call has its \
                  tool's, so remove it";
    refuse("schema", source != Some(SourceKind::Arguments), schema);
    for key in ["tools", "format", "strict"] {
        refuse(key, source != Some(SourceKind::ToolCall), "goes with source = \"tool_call\"; remove it");
    }
    let uncovered = "goes with check = \"tool-argument/v1\" and source = \"tool_call\"; remove it";
    refuse("uncovered", kind != Kind::Argument(SourceKind::ToolCall), uncovered);
    read
}

/// A catalogue is the whole candidate, and nothing is pinned.
fn read_profile<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<Kind> {
    const OTHERS: [&str; 7] = ["source", "schema", "tools", "format", "uncovered", "strict", "anchors"];
    let mut read = Ok(Kind::Profile);
    for key in OTHERS.into_iter().filter(|key| section.has(key)) {
        let what =
            "goes with another check; the candidate of token-efficiency/v1 is the catalogue, so remove it";
        read = Err(walk.report(section.line_of(walk, key), section.path(key), what));
    }
    read
}

fn read_check<'a>(walk: &mut Walk<'a>, section: &Section<'a>, kind: Read<Kind>) -> Read<Check> {
    let schema = walk.file(section, "schema");
    let tools = read_tools(walk, section);
    let or_json_schema = read_uncovered(walk, section);
    let kind = kind?;
    let mut pinned = |key: &str, fix: &str| Err(missing(walk, section, key, fix));
    let schema = match (kind.source(), schema?) {
        (Some(SourceKind::Arguments), None) => {
            return pinned("schema", "source = \"arguments\" needs the file that holds the JSON Schema");
        }
        (_, schema) => schema.unwrap_or_default(),
    };
    let tools = match (kind.source(), tools?) {
        (Some(SourceKind::ToolCall), None) => {
            return pinned(
                "tools",
                "source = \"tool_call\" needs the file that holds the catalogue of tools",
            );
        }
        (_, tools) => tools,
    };
    let or_json_schema = or_json_schema?;
    Ok(match (kind, tools) {
        (Kind::Argument(SourceKind::ToolCall), Some(tools)) => {
            Check::Argument(Source::ToolCall { tools, or_json_schema })
        }
        (Kind::JsonSchema(SourceKind::ToolCall), Some(tools)) => {
            Check::JsonSchema(SchemaSource::ToolCall(tools))
        }
        (Kind::Argument(SourceKind::Arguments), _) => Check::Argument(Source::Arguments { schema }),
        (Kind::JsonSchema(_), _) => Check::JsonSchema(SchemaSource::Arguments { schema }),
        (Kind::Argument(_), _) => Check::Argument(Source::CheckRequest),
        (Kind::Profile, _) => Check::Profile,
    })
}

/// The catalogue; none if `tools` is not there.
fn read_tools<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<Option<Tools>> {
    let file = walk.file(section, "tools");
    let form = read_form(walk, section);
    let strict = walk.boolean(section, "strict")?.unwrap_or(false);
    let (file, form) = (file?, form?);
    Ok(file.map(|file| Tools { file, form, strict }))
}

fn read_uncovered<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<bool> {
    const KEY: &str = "uncovered";
    match walk.text(section, KEY)? {
        None | Some(At { value: "refuse", .. }) => Ok(false),
        Some(At { value: "json-schema", .. }) => Ok(true),
        Some(At { line, value }) => {
            let what = format!(
                "is \"{}\"; write \"refuse\" (calls of tools whose schemas the criteria refuse are answered 500) or \
                 \"json-schema\" (JSON Schema grades them)",
                shown(value)
            );
            Err(walk.report(Some(line), section.path(KEY), what))
        }
    }
}

fn read_form<'a>(walk: &mut Walk<'a>, section: &Section<'a>) -> Read<Option<Form>> {
    const KEY: &str = "format";
    let Some(At { line, value }) = walk.text(section, KEY)? else { return Ok(None) };
    if let Some(form) = Form::ALL.into_iter().find(|form| form.code() == value) {
        return Ok(Some(form));
    }
    let forms = Form::ALL.map(|form| format!("\"{form}\"")).join(", ");
    let what = format!("is \"{}\"; write one of {forms}, or leave it out to find out", shown(value));
    Err(walk.report(Some(line), section.path(KEY), what))
}

fn read_require<'a>(
    walk: &mut Walk<'a>,
    section: &Section<'a>,
    kind: Read<Kind>,
) -> Read<Option<Vec<String>>> {
    const KEY: &str = "require";
    let Some(names) = walk.texts(section, KEY)? else { return Ok(None) };
    let known = match kind? {
        Kind::Argument(SourceKind::ToolCall) => tool_call::ANCHORS.names,
        Kind::Argument(_) => argument::ANCHORS.names,
        Kind::JsonSchema(SourceKind::ToolCall) => json_schema::CALL_ANCHORS.names,
        Kind::JsonSchema(_) => json_schema::ANCHORS.names,
        Kind::Profile => profile::ANCHORS.names,
    };
    let mut list_known = true;
    let mut seen: Vec<&str> = Vec::new();
    let mut read = Ok(());
    for (n, At { line, value }) in names.iter().enumerate() {
        let what = if !known.contains(value) {
            let like = nearest(value, known.iter().copied());
            let hint = match like {
                Some(like) => format!("; did you mean \"{like}\"?"),
                // The whole list, once.
                None if std::mem::take(&mut list_known) => format!("; its anchors: {}", known.join(", ")),
                None => String::new(),
            };
            format!("is \"{}\", which is no anchor of this check{hint}", shown(value))
        } else if seen.contains(value) {
            format!("is \"{value}\" again; say it once")
        } else {
            seen.push(value);
            continue;
        };
        read = Err(walk.report(Some(*line), section.path(&format!("{KEY}[{n}]")), what));
    }
    read.map(|()| Some(seen.into_iter().map(str::to_owned).collect()))
}

fn read_anchors<'a>(walk: &mut Walk<'a>, section: &Section<'a>, kind: Read<Kind>) -> Read<AnchorMode> {
    const KEY: &str = "anchors";
    let Some(At { line, value }) = walk.text(section, KEY)? else { return Ok(AnchorMode::Codes) };
    match (value, kind) {
        ("codes", _) => Ok(AnchorMode::Codes),
        ("per_defect", Ok(Kind::Argument(SourceKind::CheckRequest) | Kind::JsonSchema(_))) => {
            let what = "is \"per_defect\", whose paths name what a schema pinned for tool-argument/v1 declares, and \
                        there is none pinned; write anchors = \"codes\"";
            Err(walk.report(Some(line), section.path(KEY), what))
        }
        ("per_defect", _) => Ok(AnchorMode::PerDefect),
        (other, _) => {
            let what =
                format!("is \"{}\"; write anchors = \"codes\" or anchors = \"per_defect\"", shown(other));
            Err(walk.report(Some(line), section.path(KEY), what))
        }
    }
}
