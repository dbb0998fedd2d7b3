//! `pattern` by this library's own engine: ECMA-262 as decision B3 has it, look-around and back-references
//! included, and every step on the check's budget. The crate's engines know either less or no bound. Also the
//! keywords that drafts 6 and 7 let the crate assert and a dock does not.

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};

use super::node::{Tape, TapeNode};
use crate::argument::pattern::Pattern;

/// A compiled `pattern`.
struct PatternKeyword(Pattern);

impl<'i> Keyword<'i, Tape> for PatternKeyword {
    fn validate(&self, instance: TapeNode<'i>) -> Result<(), ValidationError<'i>> {
        if Keyword::<Tape>::is_valid(self, instance) {
            Ok(())
        } else {
            Err(ValidationError::custom("does not match"))
        }
    }

    fn is_valid(&self, instance: TapeNode<'i>) -> bool {
        let Some((text, meter)) = instance.text() else { return true };
        // What a spent meter answers is thrown away.
        meter.lend(|budget| self.0.is_match(&text, budget)).unwrap_or(true)
    }
}

/// What the crate calls for each `pattern` of a schema.
pub(super) fn compile<'a>(
    _: &'a Map<String, Value>,
    pattern: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i, Tape>>, ValidationError<'a>> {
    let Some(source) = pattern.as_str() else {
        return Err(ValidationError::schema("a pattern is a string"));
    };
    match Pattern::compile(source.as_bytes()) {
        Ok(pattern) => Ok(Box::new(PatternKeyword(pattern))),
        Err(error) => Err(ValidationError::schema(format!("the pattern does not compile: {error}"))),
    }
}

/// A keyword that asserts nothing.
struct Annotation;

impl<'i> Keyword<'i, Tape> for Annotation {
    fn validate(&self, _: TapeNode<'i>) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: TapeNode<'i>) -> bool {
        true
    }
}

/// What the crate calls for a keyword that is to assert nothing.
#[allow(clippy::unnecessary_wraps, reason = "the crate asks for a result")]
pub(super) fn annotation<'a>(
    _: &'a Map<String, Value>,
    _: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i, Tape>>, ValidationError<'a>> {
    Ok(Box::new(Annotation))
}
