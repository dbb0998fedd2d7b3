//! JSON Schema in full, drafts 4 to 2020-12, validate only: for what the argument criteria refuse, and for
//! values of any type.
//!
//! The crate `jsonschema` validates, over this library's own values. What it cannot know is decided here: which
//! schemas and numbers it may be given, and what a check may cost. `format` and `content…` assert nothing, nothing
//! is retrieved, and a `$ref` leads inside the document or to a meta-schema of JSON Schema.

mod keyword;
mod measure;
mod meter;
mod node;
mod number;
mod pattern;
mod reference;
mod source;
mod survey;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests;

pub use keyword::{KEYWORDS, KeywordSet};
pub use source::Unusable;

use std::collections::HashSet;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ReferencingError, ValidationError, Validator};

use crate::budget::{Budget, Exhausted};
use crate::json::Value;
use meter::Meter;
use node::{Tape, TapeNode};
use survey::{Survey, survey};

/// How deep an instance may nest; `[]` is 1 (decision A4).
pub const MAX_DEPTH: u32 = 128;

/// Bytes of a compiled pattern of `patternProperties`, and of what it keeps while it matches.
const PATTERN_BYTES: usize = 1 << 20;

/// A compiled schema.
pub struct Schema {
    validator: Validator<Tape>,
    survey: Survey,
}

impl std::fmt::Debug for Schema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Schema").field("survey", &self.survey).finish_non_exhaustive()
    }
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The keywords that failed. The instance is valid if it is empty. What fails inside a branch of `anyOf`,
    /// `oneOf` or `not`, or for a name, is told by that keyword alone.
    pub failed: KeywordSet,
    /// The values of the instance, and one for each missing member.
    pub visited: u64,
    /// Those of them without an error, as far as the crate tells.
    pub held: u64,
}

/// Why a check has no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The instance holds a number that a 64-bit float would change, such as one of 26 digits or 1e400.
    #[error("a number of the instance is none that 64-bit floats hold")]
    NumberNotExact,
    /// The instance nests deeper than 128 levels, or than this schema can be followed into.
    #[error("the instance nests too deep")]
    TooDeep,
    /// The budget is spent.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

impl Schema {
    /// Compiles a schema. `$schema` says which draft; without it, 2020-12. References are read from this value as
    /// the root of their document.
    ///
    /// # Errors
    /// [`Unusable`] says what is wrong and where.
    pub fn compile(schema: Value<'_>) -> Result<Schema, Unusable> {
        let mut tree = source::tree(schema)?;
        let survey = survey(&tree)?;
        source::read_draft4_bounds(&mut tree, &survey.draft4_bounds);
        let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
        let validator = jsonschema::options_for::<Tape>()
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(patterns)
            .with_keyword("pattern", pattern::compile)
            .with_keyword("contentEncoding", pattern::annotation)
            .with_keyword("contentMediaType", pattern::annotation)
            .build(&tree)
            .map_err(|error| unusable(&error, &survey))?;
        Ok(Schema { validator, survey })
    }

    /// The assertion keywords met in the schema, also where no instance may ever reach them.
    #[must_use]
    pub fn keywords(&self) -> KeywordSet {
        self.survey.keywords
    }

    /// Checks an instance.
    ///
    /// # Errors
    /// [`Stop`], if there is no outcome.
    pub fn check(&self, instance: Value<'_>, budget: &mut Budget<'_>) -> Result<Outcome, Stop> {
        budget.spend(1 + instance.count_nodes() / 8)?;
        let depth = instance.depth();
        if depth > MAX_DEPTH || !self.survey.shape.can_follow(depth) {
            return Err(Stop::TooDeep);
        }
        let values = self.count(instance, budget)?;
        let meter = Meter::new(budget, self.survey.costs);
        let root = TapeNode::root(instance, &meter);
        let mut outcome = Outcome { failed: KeywordSet::EMPTY, visited: values, held: values };
        // Most instances are valid, and errors cost more.
        if !self.validator.is_valid(root) {
            let mut errors = Vec::new();
            if !meter.is_spent() {
                errors.extend(self.validator.iter_errors(root));
            }
            outcome = self.outcome(values, &errors);
        }
        meter.settle(budget)?;
        Ok(outcome)
    }

    /// Counts the values of an instance, and finds numbers that the crate would not read as they are.
    fn count(&self, instance: Value<'_>, budget: &mut Budget<'_>) -> Result<u64, Stop> {
        let mut values = 0;
        let mut open = vec![instance];
        while let Some(value) = open.pop() {
            values += 1;
            budget.spend(2)?;
            if let Some(number) = value.as_number() {
                budget.spend(number.lexeme().len() as u64 / 4)?;
                if !number::is_exact(number, self.survey.floats) {
                    return Err(Stop::NumberNotExact);
                }
            }
            open.extend(value.items());
            open.extend(value.members().map(crate::json::Member::value));
        }
        Ok(values)
    }

    fn outcome(&self, values: u64, errors: &[ValidationError<'_>]) -> Outcome {
        let mut failed = KeywordSet::EMPTY;
        let mut at_fault: HashSet<&str> = HashSet::new();
        let mut missing: HashSet<(&str, &str)> = HashSet::new();
        for error in errors {
            failed.insert_named(keyword::failed(error, self.survey.keywords));
            let place = error.instance_path().as_str();
            match error.kind() {
                ValidationErrorKind::Required { property } => {
                    missing.insert((place, property.as_str().unwrap_or_default()));
                }
                _ => {
                    at_fault.insert(place);
                }
            }
        }
        let missing = missing.len() as u64;
        let visited = values + missing;
        let faults = (at_fault.len() as u64 + missing).clamp(1, visited);
        if failed.is_empty() {
            // The crate says invalid and does not say why.
            failed = self.survey.keywords;
        }
        Outcome { failed, visited, held: visited - faults }
    }
}

/// The crate's refusal in few words: it would quote whole values.
fn unusable(error: &ValidationError<'_>, survey: &Survey) -> Unusable {
    if let ValidationErrorKind::Referencing(referencing) = error.kind() {
        if let ReferencingError::UnknownSpecification { .. } = referencing {
            return Unusable::new("an unknown draft: there are 4, 6, 7, 2019-09 and 2020-12", "/$schema");
        }
        if let Some(astray) = &survey.astray {
            return astray.clone();
        }
    }
    let what = match error.kind() {
        ValidationErrorKind::Custom { message, .. } => message.clone(),
        // Its syntax is right: the survey has read it.
        ValidationErrorKind::Format { .. } => {
            "a pattern that is not matched in linear time (look-around, back-reference), is too large, or is of an old \
             form: write it in plain terms for `patternProperties`"
                .to_owned()
        }
        ValidationErrorKind::AnyOf { .. } => "not as the meta-schema says".to_owned(),
        _ => {
            format!("not as the meta-schema says: {}", shortened(error.masked_with("the value").to_string()))
        }
    };
    // Of a schema that its meta-schema refuses, the schema is the instance.
    let at_compiling =
        matches!(error.kind(), ValidationErrorKind::Custom { .. } | ValidationErrorKind::Format { .. });
    let path = if at_compiling && error.instance_path().is_empty() {
        error.schema_path()
    } else {
        error.instance_path()
    };
    Unusable::new(what, path.as_str())
}

fn shortened(mut text: String) -> String {
    const MOST: usize = 300;
    if let Some((end, _)) = text.char_indices().nth(MOST) {
        text.truncate(end);
        text.push('…');
    }
    text
}
