//! The engines against their named peers, in one run: read the ratios, not the times.
//!
//! `cargo bench --bench engines`. Groups are those of the performance targets: JSON parse against `serde_json`,
//! compile and check against `jsonschema`, a pinned schema from text to verdict against both together.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark stops at the first surprise")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use millwork_dock::argument::{Schema, Submission, Verdict, check, check_request};
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::dock;
use millwork_dock::json::{Document, Text};

/// 1.4 KB, as a tool of a calendar server has it.
const SCHEMA: &str = r#"{"type":"object","description":"Creates an event in one of the user's calendars and invites the attendees.","properties":{"calendar_id":{"type":"string","description":"The calendar to create the event in.","minLength":1,"maxLength":64},"title":{"type":"string","description":"The title of the event.","maxLength":200},"start":{"type":"string","description":"When the event starts, RFC 3339.","pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}T"},"duration_minutes":{"type":"integer","description":"How long it takes.","minimum":5,"maximum":1440},"all_day":{"type":"boolean","description":"Whether it takes the whole day."},"visibility":{"type":"string","enum":["default","public","private","confidential"],"description":"Who can see the event."},"attendees":{"type":"array","description":"Whom to invite.","maxItems":50,"items":{"type":"object","properties":{"email":{"type":"string","maxLength":254,"description":"Where the invitation goes."},"optional":{"type":"boolean","description":"Whether attendance is optional."}},"required":["email"],"additionalProperties":false}},"reminders":{"type":"array","description":"Minutes before the event.","uniqueItems":true,"items":{"type":"integer","minimum":0}},"location":{"type":"string","description":"Where it takes place."},"notes":{"type":["string","null"],"description":"Anything else."}},"required":["calendar_id","title","start"],"additionalProperties":false}"#;

/// 0.4 KB.
const ARGUMENTS: &str = r#"{"calendar_id":"primary-7f3a9","title":"Quarterly planning with the Oslo team","start":"2026-12-01T09:30:00+01:00","duration_minutes":90,"all_day":false,"visibility":"private","attendees":[{"email":"kari.nordmann@example.org","optional":false},{"email":"ola.hansen@example.org","optional":true}],"reminders":[10,60,1440],"location":"Room 4, second floor","notes":"Bring the figures of the last two quarters."}"#;

/// The same with two numbers as strings and an enum entry in the wrong case.
fn bad_arguments() -> String {
    ARGUMENTS
        .replace(":90,", ":\"90\",")
        .replace("\"private\"", "\"Private\"")
        .replace("[10,60,", "[\"10\",60,")
}

/// 20 KB of calls, as a log of them is.
fn payload() -> String {
    format!("[{}]", vec![ARGUMENTS; 48].join(","))
}

fn parse(c: &mut Criterion) {
    let catalogue = format!("[{}]", vec![SCHEMA; 180].join(","));
    for (name, text) in [("398 B", ARGUMENTS.to_owned()), ("20 KB", payload()), ("256 KB", catalogue)] {
        let mut group = c.benchmark_group(format!("json parse {name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function("own", |b| {
            b.iter(|| Document::parse(black_box(text.as_bytes().to_vec())).unwrap());
        });
        group.bench_function("serde_json", |b| {
            b.iter(|| serde_json::from_slice::<serde_json::Value>(black_box(text.as_bytes())).unwrap());
        });
        group.finish();
    }
}

fn compile_and_check(c: &mut Criterion) {
    let body = format!(r#"{{"arguments":{ARGUMENTS},"schema":{SCHEMA}}}"#);
    let mut group = c.benchmark_group("text to verdict, schema in the body");
    group.bench_function("own", |b| {
        b.iter(|| {
            let body = Document::parse(black_box(body.as_bytes()).to_vec()).unwrap();
            let verdict = check_request(body.root(), &mut Budget::of_steps(DEFAULT_STEPS)).unwrap().verdict();
            assert_eq!(verdict, Verdict::Valid);
        });
    });
    group.bench_function("jsonschema", |b| {
        b.iter(|| {
            let body: serde_json::Value = serde_json::from_slice(black_box(body.as_bytes())).unwrap();
            let (schema, arguments) = (body.get("schema").unwrap(), body.get("arguments").unwrap());
            assert!(jsonschema::draft202012::new(schema).unwrap().is_valid(arguments));
        });
    });
    group.finish();
    let mut group = c.benchmark_group("compile and check, parsed");
    let (schema, arguments) = (parsed(SCHEMA), parsed(ARGUMENTS));
    group.bench_function("own", |b| {
        b.iter(|| {
            let schema = Schema::compile(black_box(schema.root())).unwrap();
            let submission = Submission::Arguments(black_box(arguments.root()));
            check(&schema, submission, &mut Budget::of_steps(DEFAULT_STEPS)).unwrap().verdict()
        });
    });
    let (schema, arguments) = (peer(SCHEMA), peer(ARGUMENTS));
    group.bench_function("jsonschema", |b| {
        b.iter(|| jsonschema::draft202012::new(black_box(&schema)).unwrap().is_valid(black_box(&arguments)));
    });
    group.finish();
}

fn parsed(text: &str) -> Arc<Document> {
    Arc::new(Document::parse(text.as_bytes().to_vec()).unwrap())
}

fn peer(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn pinned(c: &mut Criterion) {
    let schema = Schema::owned(parsed(SCHEMA)).unwrap();
    let validator = jsonschema::draft202012::new(&peer(SCHEMA)).unwrap();
    let bad = bad_arguments();
    let mut group = c.benchmark_group("text to verdict, schema pinned");
    group.bench_function("own", |b| {
        b.iter(|| {
            let text = Submission::Text(Text::plain(black_box(ARGUMENTS.as_bytes())));
            check(&schema, text, &mut Budget::of_steps(DEFAULT_STEPS)).unwrap().verdict()
        });
    });
    group.bench_function("serde_json and jsonschema", |b| {
        b.iter(|| validator.is_valid(&serde_json::from_str(black_box(ARGUMENTS)).unwrap()));
    });
    group.bench_function("own, repaired", |b| {
        b.iter(|| {
            let text = Submission::Text(Text::plain(black_box(bad.as_bytes())));
            check(&schema, text, &mut Budget::of_steps(DEFAULT_STEPS)).unwrap().verdict()
        });
    });
    group.finish();
    let mut group = c.benchmark_group("check, parsed, schema pinned");
    let (arguments, values) = (parsed(ARGUMENTS), peer(ARGUMENTS));
    group.bench_function("own", |b| {
        b.iter(|| {
            let submission = Submission::Arguments(black_box(arguments.root()));
            check(&schema, submission, &mut Budget::of_steps(DEFAULT_STEPS)).unwrap().verdict()
        });
    });
    group.bench_function("jsonschema", |b| b.iter(|| validator.is_valid(black_box(&values))));
    group.finish();
}

fn judge(c: &mut Criterion) {
    let check = dock::Check::Argument(dock::Source::Arguments(Schema::owned(parsed(SCHEMA)).unwrap()));
    let dock = dock::Dock::new(check, dock::AnchorMode::Codes, None).unwrap();
    let body = format!(r#"{{"candidate":{ARGUMENTS}}}"#);
    c.bench_function("request body to answer", |b| {
        b.iter(|| {
            let body = Document::parse(black_box(body.as_bytes()).to_vec()).unwrap();
            let candidate = dock::candidate(&body).unwrap();
            let mut answer = Vec::new();
            dock.judge(candidate, &mut Budget::of_steps(DEFAULT_STEPS)).unwrap().write(&mut answer);
            answer
        });
    });
}

criterion_group!(benches, parse, compile_and_check, pinned, judge);
criterion_main!(benches);
