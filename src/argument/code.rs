//! The names of `tool-argument/v1`: verdicts, repair rules, defect codes and refusals.

/// The identifier of the criteria.
pub const CRITERIA_ID: &str = "tool-argument/v1";
/// The version of the criteria.
pub const CRITERIA_VERSION: &str = "1.0.0";

macro_rules! names {
    ($(#[$type_doc:meta])* $type:ident { $($(#[$doc:meta])* $name:ident = $code:literal,)* }) => {
        $(#[$type_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$doc])* $name,)* }

        impl $type {
            /// All of them, in the published order.
            pub const ALL: &[$type] = &[$($type::$name,)*];

            /// The published name.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $($type::$name => $code,)* }
            }
        }
    };
}

names! {
    /// The outcome of a check.
    Verdict {
        /// The arguments conform as submitted.
        Valid = "VALID",
        /// Repairs of the whitelist brought the arguments into conformance.
        Repaired = "REPAIRED",
        /// At least one defect remains.
        Unrepairable = "UNREPAIRABLE",
    }
}

names! {
    /// A defect, in the order in which the defects of one node are named (decision B14).
    DefectCode {
        /// A member named by `required` is absent.
        MissingRequired = "missing_required",
        /// `type` does not admit the value.
        TypeMismatch = "type_mismatch",
        /// The value is not in `enum`.
        EnumMismatch = "enum_mismatch",
        /// The value is not `const`.
        ConstMismatch = "const_mismatch",
        /// Fewer code points than `minLength`.
        StringTooShort = "string_too_short",
        /// More code points than `maxLength`.
        StringTooLong = "string_too_long",
        /// `pattern` matches nowhere.
        PatternMismatch = "pattern_mismatch",
        /// Under `minimum`.
        MinimumViolation = "minimum_violation",
        /// Over `maximum`.
        MaximumViolation = "maximum_violation",
        /// At or under `exclusiveMinimum`.
        ExclusiveMinimumViolation = "exclusive_minimum_violation",
        /// At or over `exclusiveMaximum`.
        ExclusiveMaximumViolation = "exclusive_maximum_violation",
        /// Fewer items than `minItems`.
        ArrayTooShort = "array_too_short",
        /// More items than `maxItems`.
        ArrayTooLong = "array_too_long",
        /// Two equal items under `uniqueItems`.
        ItemsNotUnique = "items_not_unique",
        /// Fewer members than `minProperties`.
        TooFewProperties = "too_few_properties",
        /// More members than `maxProperties`.
        TooManyProperties = "too_many_properties",
        /// A member that `properties` does not declare, under `additionalProperties: false`.
        AdditionalProperty = "additional_property",
        /// The raw text is not JSON, and R1 and R2 do not make it so.
        InvalidJsonText = "invalid_json_text",
    }
}

names! {
    /// Why a submission cannot be assessed at all.
    Refusal {
        /// The body is no object, or names a member twice.
        InvalidRequestBody = "invalid_request_body",
        /// The body has no `schema`.
        SchemaMissing = "schema_missing",
        /// The schema is not a valid one.
        SchemaInvalid = "schema_invalid",
        /// The schema uses a keyword or form outside the enforced subset.
        SchemaNotCovered = "schema_not_covered",
        /// Neither `arguments` nor `arguments_text`.
        ArgumentsMissing = "arguments_missing",
        /// Both `arguments` and `arguments_text`.
        ArgumentsAmbiguous = "arguments_ambiguous",
        /// The arguments are no object.
        ArgumentsNotObject = "arguments_not_object",
        /// `arguments_text` is no string.
        ArgumentsTextInvalid = "arguments_text_invalid",
        /// The arguments nest deeper than [`super::MAX_DEPTH`].
        ArgumentsTooDeep = "arguments_too_deep",
        /// The body is over [`super::MAX_BODY_BYTES`].
        BodyOverCap = "CAP-EXCEEDED:body_bytes",
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal;)*) => {
        /// A repair of the closed whitelist.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $($(#[$doc])* $rule,)* }

        impl Rule {
            /// All nine, in the published order.
            pub const ALL: &[Rule] = &[$(Rule::$rule,)*];

            /// The published identifier, `R1` to `R9`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Rule::$rule => stringify!($rule),)* }
            }

            /// The published name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name,)* }
            }
        }
    };
}

rules! {
    /// Appends the closing delimiters that a truncated text lacks.
    R1 = "close-truncated-json";
    /// Removes a comma before a closing delimiter or the end of the text.
    R2 = "drop-trailing-comma";
    /// A string that is a JSON number becomes that number.
    R3 = "string-to-number";
    /// `"true"` and `"false"` become booleans.
    R4 = "string-to-boolean";
    /// A string that is the JSON text of the wanted object or array becomes it.
    R5 = "string-json-unwrap";
    /// A number or boolean becomes its JSON spelling.
    R6 = "scalar-to-string";
    /// A value becomes the single item of an array.
    R7 = "wrap-single-in-array";
    /// An optional member that is null, and may not be, is dropped.
    R8 = "drop-null-optional-property";
    /// A string takes the case of the one `enum` entry it equals but for case.
    R9 = "enum-case-match";
}

impl Rule {
    /// What the diff says was done: `append`, `remove` or `replace`.
    #[must_use]
    pub const fn op(self) -> &'static str {
        match self {
            Rule::R1 => "append",
            Rule::R2 | Rule::R8 => "remove",
            Rule::R3 | Rule::R4 | Rule::R5 | Rule::R6 | Rule::R7 | Rule::R9 => "replace",
        }
    }
}
