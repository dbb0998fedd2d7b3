//! The published body of a check: `{arguments | arguments_text, schema}`.

use super::code::Refusal;
use super::report::Check;
use super::schema::Schema;
use super::{MAX_BODY_BYTES, Stop, Submission, check};
use crate::budget::Budget;
use crate::json::{Kind, Value, compact_len_over};

/// Checks a published body. Unknown members are ignored; the refusals come in the order of decision B2.
///
/// The body cap is measured on the compact serialisation, so that white space and escapes decide nothing.
///
/// # Errors
/// [`Stop::Refused`] if the body cannot be assessed; [`Stop::Exhausted`].
pub fn check_request<'a>(body: Value<'a>, budget: &mut Budget<'_>) -> Result<Check<'a>, Stop> {
    let refuse = |refusal| Err(Stop::Refused(refusal));
    if compact_len_over(body, MAX_BODY_BYTES) {
        return refuse(Refusal::BodyOverCap);
    }
    if body.kind() != Kind::Object || body.repeats_a_name() {
        return refuse(Refusal::InvalidRequestBody);
    }
    let Some(schema) = body.get(b"schema") else { return refuse(Refusal::SchemaMissing) };
    budget.spend(schema.count_nodes() * 4)?;
    let schema = Schema::compile(schema).map_err(|refusal| Stop::Refused(refusal.refusal))?;
    let submission = match (body.get(b"arguments"), body.get(b"arguments_text")) {
        (None, None) => return refuse(Refusal::ArgumentsMissing),
        (Some(_), Some(_)) => return refuse(Refusal::ArgumentsAmbiguous),
        (Some(arguments), None) => Submission::Arguments(arguments),
        (None, Some(text)) => match text.as_text() {
            Some(text) => Submission::Text(text),
            None => return refuse(Refusal::ArgumentsTextInvalid),
        },
    };
    check(&schema, submission, budget)
}
