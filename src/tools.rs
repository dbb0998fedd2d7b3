//! Tool lists as MCP, `OpenAI`, Anthropic and Gemini write them: names, and where the schema of the arguments stands.

use std::fmt;

use crate::json::{Kind, Text, Value};

/// A form of tool lists (decision C3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `{name, description, inputSchema}`
    Mcp,
    /// `{type: "function", function: {name, description, parameters}}` of chat completions, or without `function` of
    /// responses.
    OpenAi,
    /// `{name, description, input_schema}`
    Anthropic,
    /// `{functionDeclarations: [{name, description, parameters}]}`, or the declarations alone.
    Gemini,
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 4] = [Form::Mcp, Form::OpenAi, Form::Anthropic, Form::Gemini];

    /// The name in a configuration.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Form::Mcp => "mcp",
            Form::OpenAi => "openai",
            Form::Anthropic => "anthropic",
            Form::Gemini => "gemini",
        }
    }

    /// The members that may hold the schema; the first that is there counts.
    const fn schema_members(self) -> &'static [&'static str] {
        match self {
            Form::Mcp => &["inputSchema"],
            Form::OpenAi => &["parameters"],
            Form::Anthropic => &["input_schema"],
            Form::Gemini => &["parameters", "parametersJsonSchema", "parameters_json_schema"],
        }
    }

    /// The schema of a declaration, if it has one.
    #[must_use]
    pub fn schema(self, declaration: Value<'_>) -> Option<Value<'_>> {
        self.schema_members().iter().find_map(|member| declaration.get(member.as_bytes()))
    }

    /// The declarations in a list of tools, in an object that has it as `tools`, or in the answer to `tools/list`.
    /// What is no tool stays what it is. None where there is no list.
    #[must_use]
    pub fn declarations(self, root: Value<'_>) -> Option<Vec<Value<'_>>> {
        let mut declarations = Vec::new();
        for tool in list(root)?.items() {
            let functions = tool.get(b"functionDeclarations").or(tool.get(b"function_declarations"));
            match (self, functions, tool.get(b"function")) {
                (Form::Gemini, Some(functions), _) => declarations.extend(functions.items()),
                (Form::OpenAi, _, Some(function)) => declarations.push(function),
                _ => declarations.push(tool),
            }
        }
        Some(declarations)
    }

    /// The form that a list is in; MCP where nothing tells.
    #[must_use]
    pub fn detect(root: Value<'_>) -> Form {
        let tools = || list(root).into_iter().flat_map(Value::items);
        let any = |members: &[&str]| {
            tools().any(|tool| members.iter().any(|member| tool.get(member.as_bytes()).is_some()))
        };
        if any(&[
            "functionDeclarations",
            "function_declarations",
            "parametersJsonSchema",
            "parameters_json_schema",
        ]) {
            Form::Gemini
        } else if any(&["function"]) || tools().any(|tool| is_function(tool)) {
            Form::OpenAi
        } else if any(&["input_schema"]) {
            Form::Anthropic
        } else if any(&["parameters"]) {
            Form::Gemini
        } else {
            Form::Mcp
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

fn is_function(tool: Value<'_>) -> bool {
    tool.get(b"type").and_then(Value::as_text).is_some_and(|kind| kind == *b"function".as_slice())
}

fn list(root: Value<'_>) -> Option<Value<'_>> {
    let root = root.get(b"result").unwrap_or(root);
    let list = root.get(b"tools").unwrap_or(root);
    (list.kind() == Kind::Array).then_some(list)
}

/// A tool of a catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'d> {
    /// Its name.
    pub name: Text<'d>,
    /// The schema of its arguments. Without one they are any object.
    pub schema: Option<Value<'d>>,
}

/// Why a text is no catalogue of tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsError {
    /// No list.
    #[error("holds no list of tools; write a list, or an object that has it as \"tools\"")]
    NoList,
    /// An empty one.
    #[error("holds no tool, so every call would be refused")]
    Empty,
    /// Something in the list that is no object with a name.
    #[error("has no name at tool {0}, counted from 0 (read in the form {1}; `format` says another)")]
    NoName(usize, Form),
    /// Two tools of one name: a call could mean either.
    #[error("has the tool \"{0}\" twice; a call could mean either")]
    Twice(String),
}

/// The tools of a catalogue in a form, each name once.
///
/// # Errors
/// [`ToolsError`] for the first mistake.
pub fn read(root: Value<'_>, form: Form) -> Result<Vec<Tool<'_>>, ToolsError> {
    let declarations = form.declarations(root).ok_or(ToolsError::NoList)?;
    let mut names = std::collections::HashSet::new();
    let mut tools = Vec::with_capacity(declarations.len());
    for (index, declaration) in declarations.into_iter().enumerate() {
        let name =
            declaration.get(b"name").and_then(Value::as_text).ok_or(ToolsError::NoName(index, form))?;
        if !names.insert(name.decode().into_owned()) {
            return Err(ToolsError::Twice(String::from_utf8_lossy(&name.decode()).into_owned()));
        }
        tools.push(Tool { name, schema: form.schema(declaration) });
    }
    if tools.is_empty() { Err(ToolsError::Empty) } else { Ok(tools) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::json::Document;

    fn parse(text: &str) -> Document {
        Document::parse(text.as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn detects_each_form_and_finds_its_schemas() {
        for (text, form) in [
            (r#"[{"name":"a","inputSchema":{}}]"#, Form::Mcp),
            (r#"{"jsonrpc":"2.0","result":{"tools":[{"name":"a","inputSchema":{}}]}}"#, Form::Mcp),
            (r#"{"tools":[{"type":"function","function":{"name":"a","parameters":{}}}]}"#, Form::OpenAi),
            (r#"[{"type":"function","name":"a","parameters":{}}]"#, Form::OpenAi),
            (r#"{"tools":[{"name":"a","input_schema":{}}]}"#, Form::Anthropic),
            (r#"[{"functionDeclarations":[{"name":"a","parameters":{}}]}]"#, Form::Gemini),
            (
                r#"{"tools":[{"function_declarations":[{"name":"a","parametersJsonSchema":{}}]}]}"#,
                Form::Gemini,
            ),
            (r#"[{"name":"a","parameters":{}}]"#, Form::Gemini),
        ] {
            let document = parse(text);
            assert_eq!(Form::detect(document.root()), form, "{text}");
            let tools = read(document.root(), form).unwrap();
            let tool = tools.first().unwrap();
            assert!(tool.name == *b"a".as_slice() && tool.schema.is_some(), "{text}");
        }
        let bare = parse(r#"[{"name":"ping"}]"#);
        assert_eq!(Form::detect(bare.root()), Form::Mcp);
        assert!(read(bare.root(), Form::Mcp).unwrap().first().unwrap().schema.is_none());
    }

    #[test]
    fn mistakes_are_told() {
        let mistake = |text: &str| read(parse(text).root(), Form::Mcp).unwrap_err();
        assert_eq!(mistake("{}"), ToolsError::NoList);
        assert_eq!(mistake("[]"), ToolsError::Empty);
        assert_eq!(mistake(r#"[{"name":"a"},{"title":"b"}]"#), ToolsError::NoName(1, Form::Mcp));
        assert_eq!(mistake(r#"[{"name":"a"},{"name":"\u0061"}]"#), ToolsError::Twice("a".to_owned()));
    }
}
