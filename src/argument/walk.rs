//! The check itself: the arguments are walked along the schema, repairs are applied tentatively, and what
//! still fails is a defect.
//!
//! Recursion is as deep as the arguments, which are capped (decision A4); a repair that would exceed the cap
//! is not applied.

use std::sync::Arc;

use super::Met;
use super::code::{DefectCode, Rule};
use super::edits::Edits;
use super::held::{Documents, SCHEMA};
use super::keyword::Assertion;
use super::place::{At, Places, Step, Trail};
use super::repair::{Fix, Typed};
use super::schema::{Node, Schema};
use crate::budget::{Budget, Exhausted};
use crate::json::{Document, Kind, Member, Value};

/// Steps that a defect or repair costs: what it takes in memory, so that a short schema and a short
/// submission cannot fill it with the product of the two.
const RECORD_STEPS: u64 = 64;

/// A repair, by node numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repair {
    pub(super) rule: Rule,
    pub(super) place: u32,
    /// The value it was applied to; for R8, the name of the member.
    pub(super) at: At,
    /// What replaced the value, for the rules that replace it by a value of some document.
    pub(super) after: Option<At>,
}

/// A defect, by node numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defect {
    pub(super) code: DefectCode,
    pub(super) place: u32,
    /// The schema node that it fails.
    pub(super) schema: u32,
    /// The visit that found it: defects are told in the order of visits, not of discovery.
    visit: u32,
}

impl Defect {
    /// `invalid_json_text`, at the raw text's place.
    pub(super) fn of_text(place: u32) -> Defect {
        Defect { code: DefectCode::InvalidJsonText, place, schema: 0, visit: 0 }
    }
}

pub(super) struct Walk<'w, 'a, 'b> {
    pub(super) schema: &'w Schema<'a>,
    pub(super) budget: &'w mut Budget<'b>,
    pub(super) documents: Documents<'a>,
    pub(super) places: Places,
    pub(super) repairs: Vec<Repair>,
    pub(super) defects: Vec<Defect>,
    pub(super) visited: u64,
    pub(super) held: u64,
    pub(super) met: Met,
    visits: u32,
}

/// A value on its way through the walk.
#[derive(Clone, Copy)]
struct Visit<'v, 't> {
    value: Value<'v>,
    /// The number of the value's document.
    document: u32,
    schema: u32,
    trail: &'t Trail<'t>,
    /// Arrays and objects above the value.
    level: u32,
    /// Whether the value and what it holds stand at a schema position as submitted (decision C7).
    counted: bool,
    number: u32,
}

impl Visit<'_, '_> {
    fn at(&self) -> At {
        At { document: self.document, node: self.value.node() }
    }
}

impl<'w, 'a, 'b> Walk<'w, 'a, 'b> {
    pub(super) fn new(schema: &'w Schema<'a>, documents: Documents<'a>, budget: &'w mut Budget<'b>) -> Self {
        Walk {
            schema,
            budget,
            documents,
            places: Places::default(),
            repairs: Vec::new(),
            defects: Vec::new(),
            visited: 0,
            held: 0,
            met: Met::default(),
            visits: 0,
        }
    }

    /// Checks the arguments' root: an object, or a string that R5 turns into one.
    pub(super) fn root(&mut self, value: Value<'_>, document: u32) -> Result<(), Exhausted> {
        let trail = Trail::start(Step::Root);
        self.visit(value, document, 0, &trail, 0, true)?;
        // `missing_required` first; the rest in the order of visits, inside a visit in that of the codes.
        self.defects
            .sort_by_key(|defect| (defect.code != DefectCode::MissingRequired, defect.visit, defect.code));
        Ok(())
    }

    fn visit(
        &mut self,
        value: Value<'_>,
        document: u32,
        schema: u32,
        trail: &Trail<'_>,
        level: u32,
        counted: bool,
    ) -> Result<(), Exhausted> {
        self.budget.spend(1)?;
        let number = self.visits;
        self.visits = self.visits.saturating_add(1);
        let node = self.schema.node(schema);
        let visit = Visit { value, document, schema, trail, level, counted, number };
        let mut held = node.types.admit(value);
        if held {
            held = self.assess(visit, &node)?;
        } else {
            match self.retype(value, node.types, level)? {
                Typed::Replaced(fix) => self.replaced(visit, &node, fix)?,
                Typed::Wrapped if self.wrapped(visit, &node)? => {}
                Typed::Wrapped | Typed::Mismatch => {
                    self.defect(DefectCode::TypeMismatch, visit)?;
                    self.assess(visit, &node)?;
                }
            }
        }
        self.count(counted, held);
        Ok(())
    }

    /// Goes on with the value that a repair put in the place of the submitted one.
    fn replaced(&mut self, visit: Visit<'_, '_>, node: &Node, fix: Fix) -> Result<(), Exhausted> {
        let inner = Arc::new(fix.document);
        let document = self.documents.hold(Arc::clone(&inner));
        self.repair(fix.rule, visit.trail, visit.at(), Some(At { document, node: 0 }))?;
        self.assess(Visit { value: inner.root(), document, counted: false, ..visit }, node)?;
        Ok(())
    }

    /// R7, tentatively: whether the value as the single item of an array has no defect under the item.
    fn wrapped(&mut self, visit: Visit<'_, '_>, node: &Node) -> Result<bool, Exhausted> {
        let (repairs, defects) = (self.repairs.len(), self.defects.len());
        self.repair(Rule::R7, visit.trail, visit.at(), None)?;
        if let Some(items) = node.items {
            let trail = visit.trail.down(Step::Item(0));
            self.visit(visit.value, visit.document, items, &trail, visit.level + 1, false)?;
        }
        if self.defects.len() > defects {
            self.repairs.truncate(repairs);
            self.defects.truncate(defects);
            return Ok(false);
        }
        let assertions = self.schema.assertions(node);
        if assertions.is_empty() {
            return Ok(true);
        }
        let array = self.materialise(visit.at(), repairs)?;
        for assertion in assertions {
            if !assertion.holds(self.schema, array.root(), 1, self.budget)? {
                self.defect(assertion.code(), visit)?;
            }
        }
        Ok(true)
    }

    /// Applies every keyword but `type`. Whether all of them hold for the value as submitted.
    fn assess(&mut self, visit: Visit<'_, '_>, node: &Node) -> Result<bool, Exhausted> {
        match visit.value.kind() {
            Kind::Object => self.object(visit, node),
            Kind::Array => self.array(visit, node),
            Kind::Null | Kind::Boolean | Kind::Number | Kind::String => self.scalar(visit, node),
        }
    }

    fn scalar(&mut self, visit: Visit<'_, '_>, node: &Node) -> Result<bool, Exhausted> {
        let schema = self.schema;
        let mut value = visit.value;
        let mut holds = true;
        for assertion in schema.assertions(node) {
            if assertion.holds(schema, value, 0, self.budget)? {
                continue;
            }
            holds = false;
            if let Some(entry) = self.match_case(*assertion, value)? {
                let after = At { document: SCHEMA, node: entry };
                self.repair(Rule::R9, visit.trail, visit.at(), Some(after))?;
                value = schema.source.value_at(entry);
            } else {
                self.defect(assertion.code(), visit)?;
            }
        }
        Ok(holds)
    }

    /// R9: the entry that a string failing `enum` equals but for case.
    fn match_case(&mut self, assertion: Assertion, value: Value<'_>) -> Result<Option<u32>, Exhausted> {
        let (Assertion::Enum(index), Some(text)) = (assertion, value.as_text()) else { return Ok(None) };
        let Some(list) = self.schema.enumerations.get(index as usize) else { return Ok(None) };
        list.match_case(&self.schema.source, &text.decode(), self.budget)
    }

    fn array(&mut self, visit: Visit<'_, '_>, node: &Node) -> Result<bool, Exhausted> {
        let repairs = self.repairs.len();
        if let Some(items) = node.items {
            for (index, item) in (0..).zip(visit.value.items()) {
                let trail = visit.trail.down(Step::Item(index));
                self.visit(item, visit.document, items, &trail, visit.level + 1, visit.counted)?;
            }
        }
        self.container(visit, node, repairs, visit.value.len())
    }

    fn object(&mut self, visit: Visit<'_, '_>, node: &Node) -> Result<bool, Exhausted> {
        let schema = self.schema;
        let names = schema.names(node);
        let repairs = self.repairs.len();
        let mut seen = Seen::new(names.len());
        let mut dropped = 0;
        for member in visit.value.members() {
            self.budget.spend(1 + member.name().raw().len() as u64 / 64)?;
            let found = schema.find(node, member);
            if let Some(index) = found {
                seen.insert(index);
            }
            let name = found.and_then(|index| names.get(index));
            match name.and_then(|name| name.schema) {
                Some(child) => {
                    let required = name.is_some_and(|name| name.required.is_some());
                    if self.member(visit, member, child, required)? {
                        dropped += 1;
                    }
                }
                None if node.closed => {
                    let at = At { document: visit.document, node: member.name_node() };
                    let trail = visit.trail.down(Step::Member { name: at, declared: false });
                    self.defect(DefectCode::AdditionalProperty, Visit { trail: &trail, ..visit })?;
                    self.count(visit.counted, false);
                }
                None => {}
            }
        }
        for index in schema.required(node) {
            let Some(name) = names.get(*index as usize).filter(|_| !seen.contains(*index as usize)) else {
                continue;
            };
            let at = At { document: SCHEMA, node: name.source };
            let trail = visit.trail.down(Step::Member { name: at, declared: true });
            self.defect(DefectCode::MissingRequired, Visit { trail: &trail, ..visit })?;
            self.count(visit.counted, false);
        }
        self.container(visit, node, repairs, visit.value.len() - dropped)
    }

    /// Visits a declared member, or drops it (R8). True: dropped.
    fn member(
        &mut self,
        visit: Visit<'_, '_>,
        member: Member<'_>,
        schema: u32,
        required: bool,
    ) -> Result<bool, Exhausted> {
        let at = At { document: visit.document, node: member.name_node() };
        let trail = visit.trail.down(Step::Member { name: at, declared: true });
        let value = member.value();
        if value.kind() == Kind::Null && !required && !self.schema.node(schema).admits_null {
            self.repair(Rule::R8, &trail, at, None)?;
            self.count(visit.counted, false);
            return Ok(true);
        }
        self.visit(value, visit.document, schema, &trail, visit.level + 1, visit.counted)?;
        Ok(false)
    }

    /// Applies a container's own assertions once all it holds was visited: defects are of the repaired value,
    /// whether the node holds is told of the submitted one.
    fn container(
        &mut self,
        visit: Visit<'_, '_>,
        node: &Node,
        repairs: usize,
        len: usize,
    ) -> Result<bool, Exhausted> {
        let assertions = self.schema.assertions(node);
        let reads_inside =
            |a: &Assertion| matches!(a, Assertion::Enum(_) | Assertion::Const(_) | Assertion::UniqueItems);
        let is_repaired = self.repairs.len() > repairs;
        let repaired = if is_repaired && assertions.iter().any(reads_inside) {
            Some(self.materialise(visit.at(), repairs)?)
        } else {
            None
        };
        let mut holds = true;
        for assertion in assertions {
            let as_submitted = assertion.holds(self.schema, visit.value, visit.value.len(), self.budget)?;
            holds &= as_submitted;
            let holds_now = match &repaired {
                Some(repaired) => assertion.holds(self.schema, repaired.root(), len, self.budget)?,
                None if is_repaired => assertion.holds(self.schema, visit.value, len, self.budget)?,
                None => as_submitted,
            };
            if !holds_now {
                self.defect(assertion.code(), visit)?;
            }
        }
        Ok(holds)
    }

    /// The value at `at` with the repairs from number `repairs` on.
    fn materialise(&mut self, at: At, repairs: usize) -> Result<Document, Exhausted> {
        let own = self.repairs.get(repairs..).unwrap_or_default();
        let mut text = Vec::new();
        Edits::new(own).write(at, &self.documents, &mut text);
        self.budget.spend(text.len() as u64 / 4 + own.len() as u64 * 8)?;
        // What the writer wrote is JSON; were it not, the check must not go on.
        Document::parse_decoded(text).map_err(|_| Exhausted)
    }

    fn count(&mut self, counted: bool, held: bool) {
        self.visited += u64::from(counted);
        self.held += u64::from(counted && held);
    }

    fn repair(&mut self, rule: Rule, trail: &Trail<'_>, at: At, after: Option<At>) -> Result<(), Exhausted> {
        self.budget.spend(RECORD_STEPS)?;
        let place = self.places.of(trail);
        self.repairs.push(Repair { rule, place, at, after });
        Ok(())
    }

    fn defect(&mut self, code: DefectCode, visit: Visit<'_, '_>) -> Result<(), Exhausted> {
        self.budget.spend(RECORD_STEPS)?;
        let place = self.places.of(visit.trail);
        self.defects.push(Defect { code, place, schema: visit.schema, visit: visit.number });
        Ok(())
    }
}

/// Which of a schema node's names a submitted object has.
enum Seen {
    Few(u64),
    Many(Vec<u64>),
}

impl Seen {
    fn new(names: usize) -> Seen {
        if names <= 64 { Seen::Few(0) } else { Seen::Many(vec![0; names.div_ceil(64)]) }
    }

    fn insert(&mut self, index: usize) {
        match self {
            Seen::Few(bits) => *bits |= 1 << (index % 64),
            Seen::Many(words) => {
                if let Some(word) = words.get_mut(index / 64) {
                    *word |= 1 << (index % 64);
                }
            }
        }
    }

    fn contains(&self, index: usize) -> bool {
        let word = match self {
            Seen::Few(bits) => Some(bits),
            Seen::Many(words) => words.get(index / 64),
        };
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}
