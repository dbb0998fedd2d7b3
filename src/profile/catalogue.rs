//! The input contract: what a catalogue is, and how large it may be.

use super::Refusal;
use crate::json::{Kind, Value};

/// How large a catalogue may be (`input_contract.caps` of the criteria; the depth is decision A4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Tools.
    pub tools: usize,
    /// Bytes of the submission's compact serialisation.
    pub body_bytes: usize,
    /// Levels of arrays and objects of the catalogue; `[]` is 1.
    pub depth: u32,
}

impl Caps {
    /// The published caps.
    pub const PUBLISHED: Caps = Caps { tools: 200, body_bytes: 262_144, depth: 512 };
}

/// A tool's parts, as far as it has them.
pub(super) struct Tool<'d> {
    /// A string.
    pub(super) name: Option<Value<'d>>,
    /// A string.
    pub(super) description: Option<Value<'d>>,
    /// Any value.
    pub(super) schema: Option<Value<'d>>,
}

/// The list of a catalogue, whatever its items are.
pub(super) fn list(catalogue: Value<'_>) -> Option<Value<'_>> {
    let list = if catalogue.kind() == Kind::Object { catalogue.get(b"tools")? } else { catalogue };
    (list.kind() == Kind::Array).then_some(list)
}

/// The tools of a catalogue.
pub(super) fn tools(catalogue: Value<'_>, caps: Caps) -> Result<Vec<Tool<'_>>, Refusal> {
    if catalogue.depth() > caps.depth {
        return Err(Refusal::CatalogueTooDeep);
    }
    let list = list(catalogue).ok_or(Refusal::NotAList)?;
    match list.len() {
        0 => Err(Refusal::ZeroTools),
        len if len > caps.tools => Err(Refusal::ToolsOverCap),
        _ => list.items().map(tool).collect(),
    }
}

/// A part that is there with the value null is there.
fn tool(tool: Value<'_>) -> Result<Tool<'_>, Refusal> {
    if tool.kind() != Kind::Object {
        return Err(Refusal::ToolNotObject);
    }
    let text = |part: Option<Value<'_>>| part.is_none_or(|part| part.kind() == Kind::String);
    let (name, description) = (tool.get(b"name"), tool.get(b"description"));
    if !text(name) {
        return Err(Refusal::NameNotString);
    }
    if !text(description) {
        return Err(Refusal::DescriptionNotString);
    }
    Ok(Tool { name, description, schema: tool.get(b"inputSchema") })
}
