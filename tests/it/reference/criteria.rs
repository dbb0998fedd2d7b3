//! The walk: repairs, defects, counts, and the report as it is published.

use super::repairs::{Turned, enum_entry, has_type, turn, types};
use super::tree::{J, write};
use super::{assertions, repairs, text};

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    path: String,
    pub(crate) rule: &'static str,
    before: J,
    after: J,
}

impl Entry {
    pub(super) fn new(path: &str, rule: &'static str, before: J, after: J) -> Entry {
        Entry { path: path.to_owned(), rule, before, after }
    }
}

pub(crate) enum Outcome {
    Refused(&'static str),
    Report(Report),
}

/// What a check found; `tentative` holds the repairs even where a defect remains.
pub(crate) struct Report {
    pub(crate) tentative: Vec<Entry>,
    pub(crate) defects: Vec<(String, &'static str)>,
    pub(crate) arguments: J,
    pub(crate) visited: u64,
    pub(crate) held: u64,
}

impl Report {
    pub(crate) fn verdict(&self) -> &'static str {
        match (self.defects.is_empty(), self.tentative.is_empty()) {
            (true, true) => "VALID",
            (true, false) => "REPAIRED",
            _ => "UNREPAIRABLE",
        }
    }

    /// The report up to its counts.
    pub(crate) fn text(&self) -> String {
        let verdict = self.verdict();
        let diff: &[Entry] = if self.defects.is_empty() { &self.tentative } else { &[] };
        let (repairs, defects) = (diff.len(), self.defects.len());
        let fine = if verdict == "VALID" { " — no repair needed" } else { "" };
        let mut out = format!(
            "{{\"criteria_id\":\"tool-argument/v1\",\"criteria_version\":\"1.0.0\",\"verdict\":\"{verdict}\",\
             \"verdict_line\":\"TOOL-ARGUMENT CHECK — {verdict} — repairs: {repairs} — defects: {defects}{fine}\",\"diff\":["
        );
        for (index, entry) in diff.iter().enumerate() {
            out.push_str(if index > 0 { ",{\"path\":" } else { "{\"path\":" });
            write_path(&entry.path, &mut out);
            let op = match entry.rule {
                "R1" => "append",
                "R2" | "R8" => "remove",
                _ => "replace",
            };
            out.push_str(&format!(",\"rule\":\"{}\",\"op\":\"{op}\",\"before\":", entry.rule));
            write(&entry.before, &mut out);
            out.push_str(",\"after\":");
            write(&entry.after, &mut out);
            out.push('}');
        }
        out.push(']');
        if verdict == "REPAIRED" {
            out.push_str(",\"arguments\":");
            write(&self.arguments, &mut out);
        }
        out.push_str(",\"defects\":[");
        for (index, (path, code)) in self.defects.iter().enumerate() {
            out.push_str(if index > 0 { ",{\"path\":" } else { "{\"path\":" });
            write_path(path, &mut out);
            out.push_str(&format!(",\"code\":\"{code}\"}}"));
        }
        let (visited, held) = (self.visited, self.held);
        out.push_str(&format!(
            "],\"counts\":{{\"nodes_visited\":{visited},\"nodes_held\":{held},\"repairs\":{repairs},\"defects\":{defects}}}"
        ));
        out
    }
}

/// Names in a path are quoted where they hold a lone surrogate too, so that a path is plain text here.
fn write_path(path: &str, out: &mut String) {
    super::tree::write_string(&super::units(path), out);
}

/// What one node and all below it come to.
#[derive(Default)]
struct Found {
    diff: Vec<Entry>,
    missing: Vec<(String, &'static str)>,
    rest: Vec<(String, &'static str)>,
    visited: u64,
    held: u64,
}

impl Found {
    fn add(&mut self, other: Found) {
        self.diff.extend(other.diff);
        self.missing.extend(other.missing);
        self.rest.extend(other.rest);
        self.visited += other.visited;
        self.held += other.held;
    }
}

/// Where a node stands: its path, how many containers it is in, and whether it is a submitted value.
#[derive(Clone)]
struct Place {
    path: String,
    above: usize,
    submitted: bool,
}

/// Checks a published body whose schema is covered and valid.
pub(crate) fn check_body(body: &J) -> Outcome {
    let schema = body.get("schema").expect("a schema");
    let (mut value, diff, is_text) = match (body.get("arguments"), body.get("arguments_text")) {
        (Some(_), Some(_)) => return Outcome::Refused("arguments_ambiguous"),
        (None, None) => return Outcome::Refused("arguments_missing"),
        (Some(value), None) => (value.clone(), Vec::new(), false),
        (None, Some(J::Str(raw))) => match text::read(raw) {
            Some((value, diff)) => (value, diff, true),
            None => {
                let defects = vec![("$arguments_text".to_owned(), "invalid_json_text")];
                let (tentative, arguments) = (Vec::new(), J::Null);
                return Outcome::Report(Report { tentative, defects, arguments, visited: 0, held: 0 });
            }
        },
        (None, Some(_)) => return Outcome::Refused("arguments_text_invalid"),
    };
    let mut found = Found { diff, ..Found::default() };
    let text_repaired = !found.diff.is_empty();
    let mut root = Place { path: "$".to_owned(), above: 0, submitted: true };
    if let (J::Str(_), true, Some(names)) = (&value, is_text, types(schema))
        && !names.iter().any(|name| has_type(&value, name))
        && let Some(Turned::Unwrapped(inner @ J::Obj(_))) = turn(&names, &value, 0)
    {
        found.diff.push(Entry::new("$", "R5", value, inner.clone()));
        value = inner;
        root.submitted = false;
        found.visited = 1;
    }
    if !matches!(value, J::Obj(_)) {
        return Outcome::Refused("arguments_not_object");
    }
    if value.depth() > repairs::MAX_DEPTH {
        return Outcome::Refused("arguments_too_deep");
    }
    let (arguments, below) = visit(schema, &value, &root);
    found.add(below);
    let held = if text_repaired { 0 } else { found.held };
    let mut defects = found.missing;
    defects.extend(found.rest);
    Outcome::Report(Report { tentative: found.diff, defects, arguments, visited: found.visited, held })
}

fn visit(schema: &J, submitted: &J, place: &Place) -> (J, Found) {
    let mut found = Found::default();
    let mut value = submitted.clone();
    let mut inside = place.clone();
    inside.above += 1;
    let names = types(schema);
    let holds = |value: &J| names.as_ref().is_none_or(|names| names.iter().any(|name| has_type(value, name)));
    let mut wrapped = None;
    if !holds(submitted) {
        match turn(names.as_deref().unwrap_or_default(), submitted, place.above) {
            Some(Turned::Scalar(rule, new)) => {
                found.diff.push(Entry::new(&place.path, rule, value, new.clone()));
                value = new;
            }
            Some(Turned::Unwrapped(new)) => {
                found.diff.push(Entry::new(&place.path, "R5", value, new.clone()));
                value = new;
                inside.submitted = false;
            }
            Some(Turned::Wrapped) => wrapped = wrap(schema, submitted, &inside),
            None => {}
        }
    }
    if let Some((new, below)) = wrapped {
        found.diff.push(Entry::new(&place.path, "R7", value.clone(), J::Arr(vec![value])));
        value = new;
        found.add(below);
    } else {
        if let Some(entry) = enum_entry(schema, &value) {
            found.diff.push(Entry::new(&place.path, "R9", value, entry.clone()));
            value = entry;
        }
        let below;
        (value, below) = visit_children(schema, &value, &inside);
        found.add(below);
    }
    let (missing, rest) = own_defects(schema, &value, holds(&value), &place.path);
    if place.submitted {
        let fine = holds(submitted) && assertions::failing(schema, submitted).is_empty();
        found.visited += 1;
        found.held += u64::from(fine);
    }
    // What a text or a wrap brought in is no submitted value: neither its members nor those it lacks count.
    if inside.submitted {
        let undeclared = rest.iter().filter(|(_, code)| *code == "additional_property").count();
        found.visited += (missing.len() + undeclared) as u64;
    }
    found.missing.splice(0..0, missing);
    found.rest.splice(0..0, rest);
    (value, found)
}

/// The single element and what repairs it took; none if a defect remains under it.
fn wrap(schema: &J, value: &J, inside: &Place) -> Option<(J, Found)> {
    let path = format!("{}[0]", inside.path);
    let place = Place { path, above: inside.above, submitted: false };
    let anything = J::Obj(Vec::new());
    let (item, found) = visit(schema.get("items").unwrap_or(&anything), value, &place);
    (found.missing.is_empty() && found.rest.is_empty()).then_some((J::Arr(vec![item]), found))
}

fn visit_children(schema: &J, value: &J, inside: &Place) -> (J, Found) {
    let mut found = Found::default();
    let value = match (value, schema.get("items"), schema.get("properties")) {
        (J::Arr(items), Some(schema), _) => {
            let mut new = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let place = Place { path: format!("{}[{index}]", inside.path), ..inside.clone() };
                let (item, below) = visit(schema, item, &place);
                new.push(item);
                found.add(below);
            }
            J::Arr(new)
        }
        (J::Obj(members), _, Some(properties)) => {
            let mut new = Vec::new();
            for (name, value) in members {
                let Some(declared) = properties.get_units(name) else {
                    new.push((name.clone(), value.clone()));
                    continue;
                };
                let place = Place { path: assertions::member_path(&inside.path, name), ..inside.clone() };
                let null = matches!(value, J::Null);
                if null && !assertions::requires(schema, name) && !assertions::admits_null(declared) {
                    found.diff.push(Entry::new(&place.path, "R8", J::Null, J::Null));
                    found.visited += u64::from(inside.submitted);
                    continue;
                }
                let (value, below) = visit(declared, value, &place);
                new.push((name.clone(), value));
                found.add(below);
            }
            J::Obj(new)
        }
        _ => value.clone(),
    };
    (value, found)
}

type Defects = Vec<(String, &'static str)>;

/// The defects of the node itself: the missing members, and all others in their order.
fn own_defects(schema: &J, value: &J, type_holds: bool, path: &str) -> (Defects, Defects) {
    let mut missing = Vec::new();
    let mut rest = Vec::new();
    if !type_holds {
        rest.push((path.to_owned(), "type_mismatch"));
    }
    rest.extend(assertions::failing(schema, value).into_iter().map(|code| (path.to_owned(), code)));
    let J::Obj(members) = value else { return (missing, rest) };
    for name in assertions::required(schema) {
        if value.get_units(&name).is_none() {
            missing.push((assertions::member_path(path, &name), "missing_required"));
        }
    }
    if matches!(schema.get("additionalProperties"), Some(J::Bool(false))) {
        for (name, _) in members {
            if schema.get("properties").is_none_or(|properties| properties.get_units(name).is_none()) {
                rest.push((assertions::member_path(path, name), "additional_property"));
            }
        }
    }
    (missing, rest)
}
