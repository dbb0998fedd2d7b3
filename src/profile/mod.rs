//! `token-efficiency/v1`, operation `split-profile`: what share of an MCP tool catalogue's definition tokens its
//! names, descriptions and schemas carry, as a whole and tool by tool, and which tools share one schema.
//!
//! [`profile`] counts exactly and tells coarsely: a [`Share`] is 0, 0.5 or 1, and one from which the counts could
//! still be derived is withheld. The types that leave the engine hold no count of anything submitted but how many
//! tools and groups there are. The engine is pure and stops when its [`Budget`] is spent.

mod catalogue;
mod groups;
mod refusal;
mod report;
mod shares;
pub mod tokens;
mod withholding;

pub use catalogue::Caps;
pub use refusal::Refusal;
pub use shares::{Reason, Share, Shares, Split};

use crate::budget::{Budget, Exhausted};
use crate::json::{Kind, Value, compact_len_over, write_ecma};
use catalogue::Tool;
use shares::{Counts, PartBytes, Whole};
use tokens::{Counter, Tokenizer};

/// The identifier of the criteria.
pub const CRITERIA_ID: &str = "token-efficiency/v1";
/// The revision of the criteria.
pub const CRITERIA_REVISION: &str = "1.2.0";

/// Why there is no profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The catalogue is not what the criteria take.
    #[error("{}", .0.code())]
    Refused(Refusal),
    /// The budget is spent.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

/// The profile of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// the catalogue's shares.
    catalogue: Split,
    /// each tool's, in submitted order.
    tools: Vec<ToolSplit>,
    /// the indices of the tools of each group, in submitted order; groups by their first tool.
    groups: Vec<Vec<usize>>,
    /// R-3 can be assessed: at least two tools carry a schema.
    schema_identity_assessable: bool,
}

/// One row of R-2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSplit {
    /// The tool's name as WTF-8, if it has one.
    pub name: Option<Box<[u8]>>,
    /// Its shares.
    pub split: Split,
}

impl Profile {
    /// The shares of the catalogue as a whole.
    #[must_use]
    pub fn catalogue(&self) -> Split {
        self.catalogue
    }

    /// The tools in submitted order.
    #[must_use]
    pub fn tools(&self) -> &[ToolSplit] {
        &self.tools
    }

    /// The groups of tools whose schemas are the same bytes, as indices into [`Profile::tools`].
    #[must_use]
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Whether at least two tools carry a schema, without which there is nothing to group.
    #[must_use]
    pub fn schema_identity_assessable(&self) -> bool {
        self.schema_identity_assessable
    }
}

/// Profiles a catalogue: a list of tools, an object with such a list as `tools`, or a published body with one of
/// them as `catalogue`. Whatever else an object holds is ignored.
///
/// The cap on bytes is measured on the compact serialisation, so that white space and escapes decide nothing.
///
/// # Errors
/// [`Stop::Refused`] if the catalogue is not in contract, for the first reason in the order of [`Refusal`];
/// [`Stop::Exhausted`].
pub fn profile(
    tokenizer: &Tokenizer,
    submission: Value<'_>,
    caps: Caps,
    budget: &mut Budget<'_>,
) -> Result<Profile, Stop> {
    within_cap(submission, caps, budget)?;
    profile_catalogue(tokenizer, submission.get(b"catalogue").unwrap_or(submission), caps, budget)
}

/// Profiles the `catalogue` of a published body, which must be there. Every other member is ignored.
///
/// # Errors
/// As for [`profile`].
pub fn profile_request(
    tokenizer: &Tokenizer,
    body: Value<'_>,
    caps: Caps,
    budget: &mut Budget<'_>,
) -> Result<Profile, Stop> {
    within_cap(body, caps, budget)?;
    if body.kind() != Kind::Object {
        return Err(Stop::Refused(Refusal::InvalidRequestBody));
    }
    let catalogue = body.get(b"catalogue").ok_or(Stop::Refused(Refusal::CatalogueMissing))?;
    profile_catalogue(tokenizer, catalogue, caps, budget)
}

fn within_cap(submission: Value<'_>, caps: Caps, budget: &mut Budget<'_>) -> Result<(), Stop> {
    budget.spend(submission.count_nodes() / 2)?;
    if compact_len_over(submission, caps.body_bytes) {
        Err(Stop::Refused(Refusal::BodyOverCap))
    } else {
        Ok(())
    }
}

fn profile_catalogue(
    tokenizer: &Tokenizer,
    catalogue: Value<'_>,
    caps: Caps,
    budget: &mut Budget<'_>,
) -> Result<Profile, Stop> {
    let tools = catalogue::tools(catalogue, caps).map_err(Stop::Refused)?;
    let mut work = Work { counter: tokenizer.counter(), part: Vec::new(), schemas: Schemas::default() };
    let mut whole = Whole::default();
    let mut rows = Vec::with_capacity(tools.len());
    for tool in &tools {
        let own = work.tool(tool, budget)?;
        whole.add(&own);
        let name = tool.name.and_then(Value::as_text).map(|name| name.decode().into());
        rows.push(ToolSplit { name, split: own.split(Reason::EmptyDefinition) });
    }
    let schemas = work.schemas;
    Ok(Profile {
        catalogue: whole.split(Reason::EmptyCatalogue),
        tools: rows,
        groups: groups::groups(schemas.parts()),
        schema_identity_assessable: schemas.ends.iter().flatten().nth(1).is_some(),
    })
}

/// The number of tools of a submission, if it is a list of them at all: for whoever must say whether the cap
/// holds where something else is wrong.
pub(crate) fn count_tools(submission: Value<'_>) -> Option<usize> {
    catalogue::list(submission.get(b"catalogue").unwrap_or(submission)).map(Value::len)
}

/// What the parts of tools are written into and counted with.
struct Work<'t> {
    counter: Counter<'t>,
    part: Vec<u8>,
    schemas: Schemas,
}

impl Work<'_> {
    fn tool(&mut self, tool: &Tool<'_>, budget: &mut Budget<'_>) -> Result<Whole, Exhausted> {
        let (name, name_bytes) = self.part(tool.name, budget)?;
        let (description, description_bytes) = self.part(tool.description, budget)?;
        let (schema, schema_bytes) = self.part(tool.schema, budget)?;
        self.schemas.push(tool.schema.map(|_| self.part.as_slice()));
        let counts = Counts { name, description, schema };
        let bytes = PartBytes { name: name_bytes, description: description_bytes, schema: schema_bytes };
        Ok(Whole::new(counts, bytes))
    }

    /// Writes a part string; its tokens and its bytes. An absent part is an empty one.
    fn part(&mut self, value: Option<Value<'_>>, budget: &mut Budget<'_>) -> Result<(u64, u64), Exhausted> {
        self.part.clear();
        if let Some(value) = value {
            budget.spend(value.count_nodes())?;
            write_ecma(value, &mut self.part);
        }
        // Lone surrogates are written as escapes, so a part is always UTF-8.
        let text = String::from_utf8_lossy(&self.part);
        Ok((self.counter.count(&text, budget)?, text.len() as u64))
    }
}

/// The schema parts of all tools, one after another.
#[derive(Default)]
struct Schemas {
    text: Vec<u8>,
    /// Where the part of each tool ends, if it has one.
    ends: Vec<Option<usize>>,
}

impl Schemas {
    fn push(&mut self, part: Option<&[u8]>) {
        self.text.extend_from_slice(part.unwrap_or_default());
        self.ends.push(part.map(|_| self.text.len()));
    }

    fn parts(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let end = (*end)?;
            self.text.get(std::mem::replace(&mut start, end)..end)
        })
    }
}
