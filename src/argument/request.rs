//! The published body of a check: `{arguments | arguments_text, schema}`.

use std::sync::Arc;

use super::code::Refusal;
use super::held::Held;
use super::report::Check;
use super::schema::compile;
use super::{MAX_BODY_BYTES, Met, Origin, Stop, check_document, check_text};
use crate::budget::Budget;
use crate::json::{Document, Kind, Value, compact_len_over};

/// Checks a published body. Unknown members are ignored; the refusals come in the order of decision B2.
///
/// The body cap is measured on the compact serialisation, so that white space and escapes decide nothing.
///
/// # Errors
/// [`Stop::Refused`] if the body cannot be assessed; [`Stop::Exhausted`].
pub fn check_request<'a>(body: Value<'a>, budget: &mut Budget<'_>) -> Result<Check<'a>, Stop> {
    check_body(&Held::Borrowed(body.document()), body.node(), budget)
}

/// The same for a body that the result shall own.
///
/// # Errors
/// As for [`check_request`].
pub fn check_request_document(body: Arc<Document>, budget: &mut Budget<'_>) -> Result<Check<'static>, Stop> {
    check_body(&Held::Shared(body), 0, budget)
}

fn check_body<'a>(held: &Held<'a>, node: u32, budget: &mut Budget<'_>) -> Result<Check<'a>, Stop> {
    let refuse = |refusal| Err(Stop::Refused(refusal, Met::default()));
    let body = held.value_at(node);
    if compact_len_over(body, MAX_BODY_BYTES) {
        return refuse(Refusal::BodyOverCap);
    }
    if body.kind() != Kind::Object || body.repeats_a_name() {
        return refuse(Refusal::InvalidRequestBody);
    }
    let Some(schema) = body.get(b"schema") else { return refuse(Refusal::SchemaMissing) };
    // Compiling costs by the byte, patterns most of all.
    budget.spend(body.document().source().len() as u64 / 8 + schema.count_nodes() * 4)?;
    let schema = match compile(held, schema.node()) {
        Ok(schema) => schema,
        Err(refused) => return refuse(refused.refusal),
    };
    match (body.get(b"arguments"), body.get(b"arguments_text")) {
        (None, None) => refuse(Refusal::ArgumentsMissing),
        (Some(_), Some(_)) => refuse(Refusal::ArgumentsAmbiguous),
        (Some(arguments), None) => {
            check_document(&schema, held, arguments.node(), Origin::Structured, budget)
        }
        (None, Some(text)) => match text.as_text() {
            Some(text) => check_text(&schema, text, budget),
            None => refuse(Refusal::ArgumentsTextInvalid),
        },
    }
}
