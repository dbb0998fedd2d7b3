//! The repairs of a node whose `type` fails: R3 to R7 (decisions B5 to B8).

use super::code::Rule;
use super::schema::Types;
use super::walk::Walk;
use super::{MAX_DEPTH, Met};
use crate::budget::Exhausted;
use crate::json::{Document, Kind, Number, Text, Value, is_white_space};

/// What the rules make of a value that `type` does not admit.
pub(super) enum Typed {
    /// One rule of R3 to R6 replaces the value.
    Replaced(Fix),
    /// R7 may wrap it.
    Wrapped,
    /// No rule applies, or the rules lead to more than one type and choosing would be a guess.
    Mismatch,
}

/// A value in place of the submitted one.
pub(super) struct Fix {
    pub(super) rule: Rule,
    pub(super) document: Document,
}

impl Walk<'_, '_, '_> {
    /// Finds the one listed type that some rule can turn `value` into (decision B5).
    pub(super) fn retype(&mut self, value: Value<'_>, types: Types, level: u32) -> Result<Typed, Exhausted> {
        let mut fixes: Vec<Fix> = Vec::new();
        match value.kind() {
            Kind::String => {
                if let Some(text) = value.as_text() {
                    fixes.extend(scalar_of_text(text, types));
                    fixes.extend(self.unwrap_text(text, types, level)?);
                }
            }
            Kind::Number | Kind::Boolean if types.has(Types::STRING) => fixes.extend(text_of_scalar(value)),
            _ => {}
        }
        let wraps = types.has(Types::ARRAY)
            && level > 0
            && value.kind() != Kind::Array
            && !fixes.iter().any(|fix| fix.rule == Rule::R5 && fix.document.root().kind() == Kind::Array)
            && self.wrap_fits(value, level)?;
        Ok(match (fixes.pop(), fixes.is_empty(), wraps) {
            (Some(fix), true, false) => Typed::Replaced(fix),
            (None, _, true) => Typed::Wrapped,
            _ => Typed::Mismatch,
        })
    }

    /// R5: the text of exactly a wanted object or array, parsed strictly. Not one with repeated names, since
    /// unwrapping would drop a value, and not one that would nest too deep.
    fn unwrap_text(&mut self, text: Text<'_>, types: Types, level: u32) -> Result<Option<Fix>, Exhausted> {
        let first = text.raw().iter().find(|byte| !is_white_space(**byte));
        // An escape may come first: white space, or the bracket itself.
        let may_be = |bracket: u8| first.is_some_and(|byte| *byte == bracket || *byte == b'\\');
        if !(types.has(Types::OBJECT) && may_be(b'{') || types.has(Types::ARRAY) && may_be(b'[')) {
            return Ok(None);
        }
        self.budget.spend(text.raw().len() as u64 / 8 + 8)?;
        let decoded = text.decode().into_owned();
        let wanted = match decoded.iter().find(|byte| !is_white_space(**byte)) {
            Some(b'{') => Types::OBJECT,
            Some(b'[') => Types::ARRAY,
            _ => return Ok(None),
        };
        if !types.has(wanted) {
            return Ok(None);
        }
        let Ok(document) = Document::parse_decoded(decoded) else { return Ok(None) };
        self.met = self.met.and(Met::of(&document));
        let fits = level.saturating_add(document.depth()) <= MAX_DEPTH;
        Ok((fits && !document.has_repeated_names()).then_some(Fix { rule: Rule::R5, document }))
    }

    fn wrap_fits(&mut self, value: Value<'_>, level: u32) -> Result<bool, Exhausted> {
        self.budget.spend(value.count_nodes() / 8)?;
        Ok(level.saturating_add(1).saturating_add(value.depth()) <= MAX_DEPTH)
    }
}

/// R3 and R4: a string that is a number of the JSON grammar, or one of the two booleans' spellings.
fn scalar_of_text(text: Text<'_>, types: Types) -> Option<Fix> {
    let decoded = text.decode();
    let rule = match &*decoded {
        b"true" | b"false" if types.has(Types::BOOLEAN) => Rule::R4,
        digits => {
            let number = Number::parse(digits)?;
            let fits = types.has(Types::NUMBER) || types.has(Types::INTEGER) && number.is_integral();
            fits.then_some(Rule::R3)?
        }
    };
    Some(Fix { rule, document: Document::parse_decoded(decoded.into_owned()).ok()? })
}

/// R6: the JSON spelling of a number or boolean, as a string.
fn text_of_scalar(value: Value<'_>) -> Option<Fix> {
    let mut text = vec![b'"'];
    crate::json::write_value(value, &mut text);
    text.push(b'"');
    Some(Fix { rule: Rule::R6, document: Document::parse(text).ok()? })
}
