//! Why a catalogue is not profiled (decision D8).

/// A refusal, in the order in which they are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// More bytes than a published body may have.
    BodyOverCap,
    /// The body is no JSON object.
    InvalidRequestBody,
    /// The body has no `catalogue`.
    CatalogueMissing,
    /// Nested deeper than [`super::Caps::depth`].
    CatalogueTooDeep,
    /// Neither a list nor an object with a list as `tools`.
    NotAList,
    /// A list without tools: there is nothing to assess.
    ZeroTools,
    /// More tools than a catalogue may have.
    ToolsOverCap,
    /// A tool is no object.
    ToolNotObject,
    /// A `name` is there and is no string.
    NameNotString,
    /// A `description` is there and is no string.
    DescriptionNotString,
}

impl Refusal {
    /// All of them.
    pub const ALL: [Refusal; 10] = [
        Refusal::BodyOverCap,
        Refusal::InvalidRequestBody,
        Refusal::CatalogueMissing,
        Refusal::CatalogueTooDeep,
        Refusal::NotAList,
        Refusal::ZeroTools,
        Refusal::ToolsOverCap,
        Refusal::ToolNotObject,
        Refusal::NameNotString,
        Refusal::DescriptionNotString,
    ];

    /// The refusal's code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Refusal::BodyOverCap => "CAP-EXCEEDED:body_bytes",
            Refusal::InvalidRequestBody => "invalid_request_body",
            Refusal::CatalogueMissing => "catalogue_missing",
            Refusal::CatalogueTooDeep => "catalogue_too_deep",
            Refusal::ZeroTools => "zero_tools",
            Refusal::ToolsOverCap => "CAP-EXCEEDED:tools",
            Refusal::NotAList
            | Refusal::ToolNotObject
            | Refusal::NameNotString
            | Refusal::DescriptionNotString => "catalogue_invalid",
        }
    }

    /// The rule that a malformed catalogue breaks, which goes with the code `catalogue_invalid`.
    #[must_use]
    pub const fn rule(self) -> Option<&'static str> {
        match self {
            Refusal::NotAList => Some("not_a_list"),
            Refusal::ToolNotObject => Some("tool_not_object"),
            Refusal::NameNotString => Some("name_not_string"),
            Refusal::DescriptionNotString => Some("description_not_string"),
            _ => None,
        }
    }
}
