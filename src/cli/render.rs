//! Results of checks as people and programs read them.

use std::fmt::Write as _;

use millwork_dock::argument::{
    CRITERIA_ID, CRITERIA_VERSION, Check, DefectCode, DefectView, ReportTooLarge, Rule, Schema,
    SchemaRefusal, Stop, Verdict,
};
use millwork_dock::json::{Document, Value, write_string};

use super::check::Format;

/// The largest report that is written: a defect may repeat a long path, a repair a large value.
const MAX_REPORT_BYTES: usize = 1 << 30;

/// Values longer than this are cut in text meant for people.
const MAX_SHOWN: usize = 72;

/// The report as one line of JSON.
pub(super) fn json(result: &Result<Check<'_>, Stop>, stamp: &str) -> Result<String, ReportTooLarge> {
    match result {
        Ok(check) => Ok(report_json(check, stamp)? + "\n"),
        Err(Stop::Refused(refusal, _)) => Ok(refusal_json(refusal.code(), None, None)),
        Err(Stop::Exhausted(_)) => Ok("{\"error\":\"check_timeout\"}\n".to_owned()),
    }
}

/// The report of a check as JSON.
pub(super) fn report_json(check: &Check<'_>, stamp: &str) -> Result<String, ReportTooLarge> {
    let mut report = Vec::new();
    check.write_report(stamp, &mut report, MAX_REPORT_BYTES)?;
    Ok(String::from_utf8_lossy(&report).into_owned())
}

fn refusal_json(code: &str, keyword: Option<&str>, path: Option<&str>) -> String {
    let mut out = format!(
        "{{\"criteria_id\":\"{CRITERIA_ID}\",\"criteria_version\":\"{CRITERIA_VERSION}\",\"refusal\":\"{code}\""
    );
    for (name, value) in [("keyword", keyword), ("schema_path", path)] {
        if let Some(value) = value {
            let mut quoted = Vec::new();
            write_string(value.as_bytes(), &mut quoted);
            let _ = write!(out, ",\"{name}\":{}", String::from_utf8_lossy(&quoted));
        }
    }
    out + "}\n"
}

/// A schema that cannot be used.
pub(super) fn schema_refusal(refused: &SchemaRefusal, schema: &Document, format: Format) -> String {
    let path = refused.schema_path(schema.root());
    let code = refused.refusal.code();
    if format == Format::Json {
        return refusal_json(code, refused.keyword, Some(&path));
    }
    let place = if path.is_empty() { "at its root".to_owned() } else { format!("at {path}") };
    let keyword = refused.keyword.map_or(String::new(), |keyword| format!(", keyword \"{keyword}\""));
    format!(
        "refused: {code}\n\n  The schema cannot be graded by {CRITERIA_ID}: {place}{keyword}.\n  \
         `millwork-dock explain {code}` says what to do.\n"
    )
}

/// The result for a person.
pub(super) fn text(
    result: &Result<Check<'_>, Stop>,
    schema: &Schema<'_>,
    stamp: &str,
) -> Result<String, ReportTooLarge> {
    let check = match result {
        Ok(check) => check,
        Err(Stop::Refused(refusal, _)) => {
            let code = refusal.code();
            return Ok(format!("refused: {code}\n\n  `millwork-dock explain {code}` says what to do.\n"));
        }
        Err(Stop::Exhausted(_)) => return Ok("no verdict: the check outran its budget of steps\n".to_owned()),
    };
    report(check, Some(schema), stamp)
}

/// The report for a person; without the schema it cannot say what would be accepted.
pub(super) fn report(
    check: &Check<'_>,
    schema: Option<&Schema<'_>>,
    stamp: &str,
) -> Result<String, ReportTooLarge> {
    let mut out = check.verdict_line() + stamp + "\n";
    match check.verdict() {
        Verdict::Valid => {}
        Verdict::Repaired => write_repairs(check, &mut out)?,
        Verdict::Unrepairable => write_defects(check, schema, &mut out),
    }
    let not_checked: Vec<String> = check.not_checked().into_iter().collect();
    if !not_checked.is_empty() {
        let _ = write!(out, "\n  not checked by these criteria: {}\n", not_checked.join(", "));
    }
    Ok(out)
}

fn write_repairs(check: &Check<'_>, out: &mut String) -> Result<(), ReportTooLarge> {
    let mut diff = Vec::new();
    check.write_diff(&mut diff, MAX_REPORT_BYTES)?;
    // Written by the engine a moment ago, so it parses.
    if let Ok(diff) = Document::parse(diff) {
        out.push('\n');
        for (entry, rule) in diff.root().items().zip(check.rules()) {
            let member = |name: &str| entry.get(name.as_bytes());
            let path = member("path").and_then(Value::as_text).map(|path| path.decode().into_owned());
            let path = String::from_utf8_lossy(&path.unwrap_or_default()).into_owned();
            let shown = |name: &str| {
                member(name).map_or(String::new(), |value| {
                    let mut text = Vec::new();
                    millwork_dock::json::write_value(value, &mut text);
                    cut(&String::from_utf8_lossy(&text))
                })
            };
            let change = match rule.op() {
                "append" => format!("append {}", shown("after")),
                "remove" => format!("remove {}", shown("before")),
                _ => format!("{} → {}", shown("before"), shown("after")),
            };
            let _ = writeln!(out, "  {} {:<28} {path}: {change}", rule.id(), rule.name());
        }
    }
    let mut arguments = Vec::new();
    check.write_arguments(&mut arguments);
    let _ = write!(out, "\n{}\n", String::from_utf8_lossy(&arguments));
    Ok(())
}

fn write_defects(check: &Check<'_>, schema: Option<&Schema<'_>>, out: &mut String) {
    out.push('\n');
    for defect in check.defects() {
        let (code, path) = (defect.code(), path_of(&defect));
        let wanted = schema.map_or(String::new(), |schema| wanted(code, defect.expected(schema)));
        let _ = writeln!(out, "  {path}\n      {}{wanted}", code.code());
    }
}

fn path_of(defect: &DefectView<'_>) -> String {
    let mut path = Vec::new();
    defect.write_path(false, &mut path);
    String::from_utf8_lossy(&path).into_owned()
}

/// What would be accepted.
fn wanted(code: DefectCode, expected: Option<String>) -> String {
    let expected = cut(&expected.unwrap_or_default());
    let what = match code {
        DefectCode::MissingRequired => "the schema requires this member".to_owned(),
        DefectCode::TypeMismatch => {
            format!("the type must be {expected}, and no repair leads there without guessing")
        }
        DefectCode::EnumMismatch => format!("must be one of {expected}"),
        DefectCode::ConstMismatch => format!("must be {expected}"),
        DefectCode::StringTooShort => format!("must have at least {expected} characters"),
        DefectCode::StringTooLong => format!("must have at most {expected} characters"),
        DefectCode::PatternMismatch => format!("must match the pattern {expected}"),
        DefectCode::MinimumViolation => format!("must be {expected} or more"),
        DefectCode::MaximumViolation => format!("must be {expected} or less"),
        DefectCode::ExclusiveMinimumViolation => format!("must be more than {expected}"),
        DefectCode::ExclusiveMaximumViolation => format!("must be less than {expected}"),
        DefectCode::ArrayTooShort => format!("must have at least {expected} items"),
        DefectCode::ArrayTooLong => format!("must have at most {expected} items"),
        DefectCode::ItemsNotUnique => "no two items may be equal".to_owned(),
        DefectCode::TooFewProperties => format!("must have at least {expected} members"),
        DefectCode::TooManyProperties => format!("must have at most {expected} members"),
        DefectCode::AdditionalProperty => {
            "the schema declares no such member, and admits no other".to_owned()
        }
        DefectCode::InvalidJsonText => {
            "must be JSON, or become so by closing it (R1) and dropping trailing commas (R2)".to_owned()
        }
    };
    format!(": {what}")
}

/// One line of a batch, for a person.
pub(super) fn line(number: usize, result: &Result<Check<'_>, Stop>) -> String {
    let (verdict, rest) = match result {
        Ok(check) => {
            let mut rest = String::new();
            if check.verdict() == Verdict::Repaired {
                let rules: Vec<&str> = check.rules().map(Rule::id).collect();
                rest = cut(&rules.join(" "));
            }
            if let Some(first) = check.defects().next() {
                rest = format!("{} at {}", first.code().code(), cut(&path_of(&first)));
                if check.count_defects() > 1 {
                    let _ = write!(rest, " and {} more", check.count_defects() - 1);
                }
            }
            (check.verdict().code(), rest)
        }
        Err(Stop::Refused(refusal, _)) => ("refused", refusal.code().to_owned()),
        Err(Stop::Exhausted(_)) => ("failed", "check_timeout".to_owned()),
    };
    format!("{number:>8}  {verdict:<12}  {rest}").trim_end().to_owned()
}

/// The beginning of a long text, without characters that a terminal would obey.
fn cut(text: &str) -> String {
    let text = text.replace(char::is_control, "\u{fffd}");
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
