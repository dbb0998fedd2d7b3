//! The result of a check, and how it is written.

use std::collections::BTreeSet;

use super::Met;
use super::code::{CRITERIA_ID, CRITERIA_VERSION, DefectCode, Rule, Verdict};
use super::edits::Edits;
use super::held::{Documents, Held, SCHEMA, SUBMISSION};
use super::place::{At, Places, Step, Trail};
use super::schema::Schema;
use super::text::TextRepair;
use super::walk::{Defect, Repair, Walk};
use crate::json::{Document, write_string, write_value};

/// The result of a check: a verdict, and what led to it by node numbers. Paths, values and the repaired
/// arguments are rendered only on demand (decision B15).
#[derive(Debug)]
pub struct Check<'a> {
    verdict: Verdict,
    text_repair: Option<TextRepair>,
    repairs: Vec<Repair>,
    defects: Vec<Defect>,
    places: Places,
    documents: Documents<'a>,
    root: u32,
    visited: u64,
    held: u64,
    met: Met,
    /// Names of the schema's keywords, as nodes of its document.
    not_checked: Vec<u32>,
}

/// The report would be larger than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the report would be larger than {0} bytes")]
pub struct ReportTooLarge(pub usize);

/// A defect, to be read.
#[derive(Debug, Clone, Copy)]
pub struct DefectView<'c> {
    check: &'c Check<'c>,
    defect: Defect,
}

impl<'a> Check<'a> {
    pub(super) fn new(walk: Walk<'_, 'a, '_>, root: u32, text_repair: Option<TextRepair>) -> Check<'a> {
        let repaired = text_repair.is_some() || !walk.repairs.is_empty();
        let verdict = match (walk.defects.is_empty(), repaired) {
            (true, false) => Verdict::Valid,
            (true, true) => Verdict::Repaired,
            (false, _) => Verdict::Unrepairable,
        };
        // With UNREPAIRABLE no tentative repair shows anywhere (decision B14).
        let keep = verdict == Verdict::Repaired;
        Check {
            verdict,
            // Of text that does not parse as it stands, nothing holds as submitted (decision C7).
            held: if text_repair.is_some() { 0 } else { walk.held },
            text_repair: text_repair.filter(|_| keep),
            repairs: if keep { walk.repairs } else { Vec::new() },
            defects: walk.defects,
            places: walk.places,
            documents: walk.documents,
            root,
            visited: walk.visited,
            met: walk.met,
            not_checked: walk.schema.not_checked().to_vec(),
        }
    }

    /// The result for raw text that is not JSON.
    pub(super) fn invalid_text(schema: &Schema<'a>) -> Check<'a> {
        let mut places = Places::default();
        let place = places.of(&Trail::start(Step::Text));
        Check {
            verdict: Verdict::Unrepairable,
            text_repair: None,
            repairs: Vec::new(),
            defects: vec![Defect::of_text(place)],
            places,
            documents: Documents::new(schema.source.clone(), Held::Shared(Document::null())),
            root: 0,
            visited: 0,
            held: 0,
            met: Met::default(),
            not_checked: schema.not_checked().to_vec(),
        }
    }

    /// The verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// How many repairs the diff lists.
    #[must_use]
    pub fn count_repairs(&self) -> usize {
        self.rules().count()
    }

    /// How many defects remain.
    #[must_use]
    pub fn count_defects(&self) -> usize {
        self.defects.len()
    }

    /// Values visited at a schema position, with one for each missing and each undeclared member (C7).
    #[must_use]
    pub fn nodes_visited(&self) -> u64 {
        self.visited
    }

    /// Those of [`Check::nodes_visited`] that hold as submitted.
    #[must_use]
    pub fn nodes_held(&self) -> u64 {
        self.held
    }

    /// The same result for a body whose own text held `met`.
    #[must_use]
    pub(crate) fn having_met(mut self, met: Met) -> Self {
        self.met = self.met.and(met);
        self
    }

    /// What the texts that were parsed on the way held (decision C6).
    #[must_use]
    pub fn met(&self) -> Met {
        self.met
    }

    /// The keywords of the schema that no verdict rests on, each once and sorted: `format`, annotations, and
    /// names that are no keyword (decision B1).
    #[must_use]
    pub fn not_checked(&self) -> BTreeSet<String> {
        let name = |node: &u32| self.documents.text(At { document: SCHEMA, node: *node }).decode();
        self.not_checked.iter().map(|node| String::from_utf8_lossy(&name(node)).into_owned()).collect()
    }

    /// The rule of every repair, in application order.
    pub fn rules(&self) -> impl Iterator<Item = Rule> + '_ {
        let text = self.text_repair.as_ref();
        let closed = text.filter(|text| !text.appended.is_empty()).map(|_| Rule::R1);
        let commas = text.map_or(0, |text| text.commas);
        let own = self.repairs.iter().map(|repair| repair.rule);
        closed.into_iter().chain(std::iter::repeat_n(Rule::R2, commas)).chain(own)
    }

    /// The defects, in the published order.
    pub fn defects(&self) -> impl Iterator<Item = DefectView<'_>> {
        self.defects.iter().map(|defect| DefectView { check: self, defect: *defect })
    }

    /// The verdict line, without the time that the published operation appends (decision B18).
    #[must_use]
    pub fn verdict_line(&self) -> String {
        let (repairs, defects) = (self.count_repairs(), self.count_defects());
        let line = format!(
            "TOOL-ARGUMENT CHECK — {} — repairs: {repairs} — defects: {defects}",
            self.verdict.code()
        );
        if self.verdict == Verdict::Valid { line + " — no repair needed" } else { line }
    }

    /// Appends the repaired arguments, compact; those submitted if nothing was repaired.
    pub fn write_arguments(&self, out: &mut Vec<u8>) {
        let root = At { document: SUBMISSION, node: self.root };
        Edits::new(&self.repairs).write(root, &self.documents, out);
    }

    /// Appends the diff, a JSON array of `{path, rule, op, before, after}`.
    ///
    /// # Errors
    /// [`ReportTooLarge`] once `out` is longer than `limit`.
    pub fn write_diff(&self, out: &mut Vec<u8>, limit: usize) -> Result<(), ReportTooLarge> {
        out.push(b'[');
        let mut first = true;
        let mut begin = |rule: Rule, path: &[u8], out: &mut Vec<u8>| {
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"path\":");
            write_string(path, out);
            out.extend_from_slice(
                format!(",\"rule\":\"{}\",\"op\":\"{}\",\"before\":", rule.id(), rule.op()).as_bytes(),
            );
        };
        if let Some(text) = &self.text_repair {
            if !text.appended.is_empty() {
                begin(Rule::R1, b"$arguments_text", out);
                out.extend_from_slice(b"null,\"after\":");
                write_string(&text.appended, out);
                out.push(b'}');
            }
            for _ in 0..text.commas {
                begin(Rule::R2, b"$arguments_text", out);
                out.extend_from_slice(b"\",\",\"after\":\"\"}");
                within(out, limit)?;
            }
        }
        for repair in &self.repairs {
            let mut path = Vec::new();
            self.places.write_path(repair.place, &self.documents, false, &mut path);
            begin(repair.rule, &path, out);
            self.write_change(repair, out);
            out.push(b'}');
            within(out, limit)?;
        }
        out.push(b']');
        within(out, limit)
    }

    fn write_change(&self, repair: &Repair, out: &mut Vec<u8>) {
        if repair.rule == Rule::R8 {
            return out.extend_from_slice(b"null,\"after\":null");
        }
        let Some(before) = self.documents.value(repair.at) else { return };
        write_value(before, out);
        out.extend_from_slice(b",\"after\":");
        if let Some(after) = repair.after.and_then(|after| self.documents.value(after)) {
            write_value(after, out);
        } else {
            out.push(b'[');
            write_value(before, out);
            out.push(b']');
        }
    }

    /// Appends the defects, a JSON array of `{path, code}`.
    ///
    /// # Errors
    /// [`ReportTooLarge`] once `out` is longer than `limit`.
    pub fn write_defects(&self, out: &mut Vec<u8>, limit: usize) -> Result<(), ReportTooLarge> {
        out.push(b'[');
        for (index, defect) in self.defects().enumerate() {
            out.extend_from_slice(if index > 0 { b",{\"path\":" } else { b"{\"path\":" });
            let mut path = Vec::new();
            defect.write_path(false, &mut path);
            write_string(&path, out);
            out.extend_from_slice(format!(",\"code\":\"{}\"}}", defect.code().code()).as_bytes());
            within(out, limit)?;
        }
        out.push(b']');
        within(out, limit)
    }

    /// Appends the whole report as a JSON object. `stamp` is appended to the verdict line: the published
    /// operation and the command line give the time there, an engine knows none (decision B18).
    ///
    /// # Errors
    /// [`ReportTooLarge`] once `out` is longer than `limit`.
    pub fn write_report(&self, stamp: &str, out: &mut Vec<u8>, limit: usize) -> Result<(), ReportTooLarge> {
        out.extend_from_slice(
            format!(
                "{{\"criteria_id\":\"{CRITERIA_ID}\",\"criteria_version\":\"{CRITERIA_VERSION}\",\"verdict\":\"{}\",\
                 \"verdict_line\":\"{}{stamp}\",\"diff\":",
                self.verdict.code(),
                self.verdict_line(),
            )
            .as_bytes(),
        );
        self.write_diff(out, limit)?;
        if self.verdict == Verdict::Repaired {
            out.extend_from_slice(b",\"arguments\":");
            self.write_arguments(out);
        }
        out.extend_from_slice(b",\"defects\":");
        self.write_defects(out, limit)?;
        out.extend_from_slice(
            format!(
                ",\"counts\":{{\"nodes_visited\":{},\"nodes_held\":{},\"repairs\":{},\"defects\":{}}},\"not_checked\":[",
                self.visited,
                self.held,
                self.count_repairs(),
                self.count_defects(),
            )
            .as_bytes(),
        );
        for (index, name) in self.not_checked().into_iter().enumerate() {
            out.extend_from_slice(if index > 0 { b"," } else { b"" });
            write_string(name.as_bytes(), out);
        }
        out.extend_from_slice(b"]}");
        within(out, limit)
    }
}

fn within(out: &[u8], limit: usize) -> Result<(), ReportTooLarge> {
    if out.len() > limit { Err(ReportTooLarge(limit)) } else { Ok(()) }
}

impl DefectView<'_> {
    /// What is wrong.
    #[must_use]
    pub fn code(&self) -> DefectCode {
        self.defect.code
    }

    /// Appends where it is wrong. With `redact`, names that the schema does not declare become `[?]`.
    pub fn write_path(&self, redact: bool, out: &mut Vec<u8>) {
        self.check.places.write_path(self.defect.place, &self.check.documents, redact, out);
    }

    /// What the failing keyword of the schema says, as JSON; nothing where no one keyword says it.
    #[must_use]
    pub fn expected(&self, schema: &Schema<'_>) -> Option<String> {
        let keyword = match self.defect.code {
            DefectCode::TypeMismatch => "type",
            DefectCode::EnumMismatch => "enum",
            DefectCode::ConstMismatch => "const",
            DefectCode::StringTooShort => "minLength",
            DefectCode::StringTooLong => "maxLength",
            DefectCode::PatternMismatch => "pattern",
            DefectCode::MinimumViolation => "minimum",
            DefectCode::MaximumViolation => "maximum",
            DefectCode::ExclusiveMinimumViolation => "exclusiveMinimum",
            DefectCode::ExclusiveMaximumViolation => "exclusiveMaximum",
            DefectCode::ArrayTooShort => "minItems",
            DefectCode::ArrayTooLong => "maxItems",
            DefectCode::TooFewProperties => "minProperties",
            DefectCode::TooManyProperties => "maxProperties",
            DefectCode::MissingRequired
            | DefectCode::ItemsNotUnique
            | DefectCode::AdditionalProperty
            | DefectCode::InvalidJsonText => return None,
        };
        let mut text = Vec::new();
        write_value(schema.written(self.defect.schema)?.get(keyword.as_bytes())?, &mut text);
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}
