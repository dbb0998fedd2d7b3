//! The check `json-schema`: the engine over the tape against the suites, the catalogues, and the crate over its own tree.

mod catalogue;
mod hostile;
mod names;
mod oracle;
mod suite;

use millwork_dock::budget::Budget;
use millwork_dock::json::Document;
use millwork_dock::json_schema::{Outcome, Schema, Stop, Unusable};

/// Steps for one check of a test.
const STEPS: u64 = 20_000_000;

/// Compiles a schema from its text.
fn compile(schema: &str) -> Result<Schema, Unusable> {
    Schema::compile(parse(schema.as_bytes()).root())
}

/// Checks an instance from its text.
fn check(schema: &Schema, instance: &[u8]) -> Result<Outcome, Stop> {
    schema.check(parse(instance).root(), &mut Budget::of_steps(STEPS))
}

fn parse(text: &[u8]) -> Document {
    Document::parse(text.to_vec()).unwrap()
}
