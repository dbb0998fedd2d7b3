//! Tool calls in a candidate, in every dialect that models and agents write them (decision C3).
//!
//! What looks like a call and is none of the known shapes is not guessed at: it is counted as unreadable.

use crate::json::{Kind, Text, Value};

/// A call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'d> {
    /// The tool's name.
    pub(super) name: Text<'d>,
    /// What the tool is called with.
    pub(super) arguments: Arguments<'d>,
}

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arguments<'d> {
    /// A value. A string is the raw text of the arguments.
    Value(Value<'d>),
    /// Left out where the dialect lets them: no arguments.
    Absent,
}

/// The calls of a candidate.
#[derive(Debug, Default)]
pub(super) struct Calls<'d> {
    /// Those that can be read, in their order.
    pub(super) calls: Vec<Call<'d>>,
    /// Something looks like a call and cannot be read as one.
    pub(super) unreadable: bool,
}

/// Members that hold calls in some dialect or other, known here or not.
const CALL_MEMBERS: &[&str] = &[
    "tool_calls",
    "toolCalls",
    "tool_call",
    "toolCall",
    "function_call",
    "functionCall",
    "functionCalls",
    "function_calls",
    "tool_use",
    "toolUse",
];
/// Types that mark a part as a call in some dialect or other.
const CALL_TYPES: &[&str] = &[
    "function",
    "function_call",
    "tool_call",
    "tool_use",
    "custom_tool_call",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_call",
    "computer_call",
    "tool-call",
    "tool-use",
];
/// Members that name a tool, and members that hold arguments: one of each make a call.
const NAME_MEMBERS: &[&str] = &["name", "tool", "tool_name", "toolName", "function", "function_name"];
const ARGUMENT_MEMBERS: &[&str] =
    &["arguments", "args", "input", "parameters", "params", "tool_input", "toolInput", "kwargs"];

/// Lists of parts inside one another: an answer of the Responses API has `output`, whose messages have `content`, and
/// nothing known has more. The limit also bounds the recursion, since candidates nest as deep as their bytes allow.
const MAX_LISTS: u8 = 3;

/// Every call of a candidate: one, a list of them, or a message that holds them.
pub(super) fn calls(candidate: Value<'_>) -> Calls<'_> {
    let mut found = Calls::default();
    match candidate.kind() {
        Kind::Array => candidate.items().for_each(|part| found.part(part, MAX_LISTS)),
        _ => found.part(candidate, MAX_LISTS),
    }
    found
}

impl<'d> Calls<'d> {
    /// A message, a part of one, or a call by itself. What can be read as two of them is not guessed at.
    fn part(&mut self, part: Value<'d>, lists: u8) {
        if part.kind() != Kind::Object {
            return;
        }
        let kind = part.get(b"type");
        let two_readings = if part.get(b"jsonrpc").is_some() || is(part.get(b"method"), "tools/call") {
            self.rpc(part);
            holds_calls(part) || has(part, NAME_MEMBERS)
        } else if is(kind, "function_call") {
            self.named(part, "arguments", false);
            holds_calls(part) || has(part, &["function"])
        } else if is(kind, "tool_use") {
            self.named(part, "input", false);
            holds_calls(part) || has(part, &["function"])
        } else if is(kind, "function") {
            self.function(part.get(b"function"));
            holds_calls(part) || has(part, ARGUMENT_MEMBERS)
        } else if self.message(part, lists) {
            has_unknown_call_member(part) || has(part, NAME_MEMBERS) && has(part, ARGUMENT_MEMBERS)
        } else {
            self.bare(part);
            false
        };
        self.unreadable |= two_readings;
    }

    /// A request `tools/call`. An answer, or a request for something else, is no call.
    fn rpc(&mut self, request: Value<'d>) {
        match (is(request.get(b"method"), "tools/call"), request.get(b"params")) {
            (true, Some(params)) if params.kind() == Kind::Object => self.named(params, "arguments", true),
            (true, _) => self.unreadable = true,
            (false, _) => {}
        }
    }

    /// The calls of a message, if `part` is one: those of chat completions, legacy ones, Gemini's, and the blocks of
    /// `content`, `parts` and `output`. Whether it was.
    fn message(&mut self, part: Value<'d>, lists: u8) -> bool {
        let mut is_message = false;
        if let Some(calls) = present(part, b"tool_calls") {
            is_message = true;
            match calls.kind() {
                Kind::Array => calls.items().for_each(|call| self.function(call.get(b"function"))),
                _ => self.unreadable = true,
            }
        }
        if let Some(call) = present(part, b"function_call") {
            is_message = true;
            self.named(call, "arguments", false);
        }
        if let Some(call) = present(part, b"functionCall") {
            is_message = true;
            self.named(call, "args", true);
        }
        for blocks in LISTS.iter().filter_map(|name| list(part, name)) {
            is_message = true;
            match lists.checked_sub(1) {
                Some(lists) => blocks.items().for_each(|block| self.part(block, lists)),
                None => self.unreadable = true,
            }
        }
        is_message
    }

    /// `{name, arguments}`, the arguments optional as in MCP: then nothing may stand beside the name that could be
    /// arguments by another name.
    fn bare(&mut self, part: Value<'d>) {
        let is_bare = part.get(b"name").is_some_and(|name| name.kind() == Kind::String);
        let alone =
            || part.members().all(|member| [&b"name"[..], b"_meta"].contains(&&*member.name().decode()));
        if is_bare && (part.get(b"arguments").is_some() || alone()) {
            self.named(part, "arguments", true);
        } else if looks_like_a_call(part) {
            self.unreadable = true;
        }
    }

    /// `{name, arguments}` of chat completions, whose arguments are text.
    fn function(&mut self, function: Option<Value<'d>>) {
        match function {
            Some(function) => self.named(function, "arguments", false),
            None => self.unreadable = true,
        }
    }

    /// A call whose arguments are the member `arguments`. Arguments by another name beside them leave two readings.
    fn named(&mut self, call: Value<'d>, arguments: &str, optional: bool) {
        let name = call.get(b"name").and_then(Value::as_text);
        let others = ARGUMENT_MEMBERS.iter().filter(|other| **other != arguments);
        let ambiguous = others.clone().any(|other| call.get(other.as_bytes()).is_some());
        let arguments = match call.get(arguments.as_bytes()) {
            Some(value) => Some(Arguments::Value(value)),
            None => optional.then_some(Arguments::Absent),
        };
        match (name, arguments) {
            (Some(name), Some(arguments)) if !ambiguous => self.calls.push(Call { name, arguments }),
            _ => self.unreadable = true,
        }
    }
}

/// A member that is there and not null, as messages without calls have it.
fn present<'d>(value: Value<'d>, name: &[u8]) -> Option<Value<'d>> {
    value.get(name).filter(|member| member.kind() != Kind::Null)
}

/// Members that hold the parts of a message as a list.
const LISTS: [&str; 3] = ["content", "parts", "output"];

fn list<'d>(part: Value<'d>, name: &str) -> Option<Value<'d>> {
    part.get(name.as_bytes()).filter(|blocks| blocks.kind() == Kind::Array)
}

/// Whether it holds calls as a message does.
fn holds_calls(part: Value<'_>) -> bool {
    has(part, CALL_MEMBERS) || LISTS.iter().any(|name| list(part, name).is_some())
}

/// Whether one of the members is there, and not null.
fn has(part: Value<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| present(part, name.as_bytes()).is_some())
}

/// A message holds calls in yet another way, beside those that are read.
fn has_unknown_call_member(message: Value<'_>) -> bool {
    const KNOWN: [&str; 3] = ["tool_calls", "function_call", "functionCall"];
    CALL_MEMBERS.iter().any(|name| !KNOWN.contains(name) && present(message, name.as_bytes()).is_some())
}

fn is(value: Option<Value<'_>>, text: &str) -> bool {
    value.and_then(Value::as_text).is_some_and(|value| value == *text.as_bytes())
}

fn looks_like_a_call(part: Value<'_>) -> bool {
    let marked = CALL_TYPES.iter().any(|kind| is(part.get(b"type"), kind));
    marked || has(part, CALL_MEMBERS) || has(part, NAME_MEMBERS) && has(part, ARGUMENT_MEMBERS)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::json::{Document, write_value};

    /// The calls as `name arguments`, and whether something was unreadable.
    fn read(text: &str) -> (Vec<String>, bool) {
        let document = Document::parse(text.as_bytes().to_vec()).unwrap();
        let found = calls(document.root());
        let shown = found.calls.iter().map(|call| {
            let mut out = call.name.decode().into_owned();
            out.push(b' ');
            match call.arguments {
                Arguments::Value(value) => write_value(value, &mut out),
                Arguments::Absent => out.push(b'-'),
            }
            String::from_utf8(out).unwrap()
        });
        (shown.collect(), found.unreadable)
    }

    #[test]
    fn every_dialect_is_read() {
        for (text, expected) in [
            (r#"{"name":"f","arguments":{"a":1}}"#, "f {\"a\":1}"),
            (r#"{"name":"f","arguments":"{}"}"#, "f \"{}\""),
            (r#"{"name":"f"}"#, "f -"),
            (r#"{"name":"f","_meta":{"progressToken":1}}"#, "f -"),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{}}}"#,
                "f {}",
            ),
            (r#"{"method":"tools/call","params":{"name":"f"}}"#, "f -"),
            (
                r#"{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}"#,
                "f \"{\\\"a\\\":1}\"",
            ),
            (
                r#"{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]}"#,
                "f \"\"",
            ),
            (r#"{"role":"assistant","function_call":{"name":"f","arguments":"{}"}}"#, "f \"{}\""),
            (r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}"#, "f \"{}\""),
            (
                r#"{"output":[{"type":"reasoning"},{"type":"function_call","name":"f","arguments":"{}"}]}"#,
                "f \"{}\"",
            ),
            (r#"{"type":"tool_use","id":"t","name":"f","input":{"a":1}}"#, "f {\"a\":1}"),
            (
                r#"{"role":"assistant","content":[{"type":"text","text":"tool_use"},{"type":"tool_use","id":"t","name":"f","input":{}}]}"#,
                "f {}",
            ),
            (r#"{"functionCall":{"name":"f","args":{"a":1}}}"#, "f {\"a\":1}"),
            (r#"{"role":"model","parts":[{"text":"x"},{"functionCall":{"name":"f"}}]}"#, "f -"),
        ] {
            assert_eq!(read(text), (vec![expected.to_owned()], false), "{text}");
            let twice = format!("[{text},{text}]");
            assert_eq!(read(&twice), (vec![expected.to_owned(); 2], false), "{twice}");
        }
        let parallel = r#"{"tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}},{"type":"function","function":{"name":"g","arguments":"1"}}]}"#;
        assert_eq!(read(parallel), (vec!["f \"{}\"".to_owned(), "g \"1\"".to_owned()], false));
    }

    #[test]
    fn what_is_no_call_is_none() {
        for text in [
            "1",
            "null",
            "\"f\"",
            "[]",
            "{}",
            r#"{"role":"assistant","content":"no call","tool_calls":null,"function_call":null}"#,
            r#"{"role":"assistant","tool_calls":[]}"#,
            r#"[{"type":"text","text":"x"}]"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
            r#"{"city":"Bern","days":3}"#,
            r#"{"name":"Bern","inhabitants":140000}"#,
        ] {
            assert_eq!(read(text), (Vec::new(), false), "{text}");
        }
    }

    #[test]
    fn what_has_two_readings_is_told() {
        let call = r#""name":"f","arguments":{}"#;
        let tool_calls = r#""tool_calls":[{"type":"function","function":{"name":"g","arguments":"{}"}}]"#;
        for text in [
            format!(r#"{{"role":"assistant",{tool_calls},{call}}}"#),
            format!(r#"{{"content":[{{"type":"tool_use","name":"g","input":{{}}}}],{call}}}"#),
            format!(r#"{{"type":"tool_use","name":"f","input":{{}},{tool_calls}}}"#),
            format!(r#"{{"type":"function_call",{call},"function":{{"name":"g"}}}}"#),
            format!(r#"{{"type":"function","function":{{{call}}},"arguments":{{}}}}"#),
            format!(r#"{{"method":"tools/call","params":{{{call}}},"name":"g"}}"#),
            format!(r#"{{"method":"tools/call","params":{{{call}}},{tool_calls}}}"#),
        ] {
            assert!(read(&text).1, "{text}");
        }
        // An author's name is no tool's.
        let named = format!(r#"{{"role":"assistant","name":"planner",{tool_calls}}}"#);
        assert_eq!(read(&named), (vec!["g \"{}\"".to_owned()], false));
    }

    #[test]
    fn lists_in_lists_are_bounded() {
        let call = r#"{"type":"tool_use","name":"f","input":{}}"#;
        let nested =
            |levels: usize| format!("{}{call}{}", r#"{"content":["#.repeat(levels), "]}".repeat(levels));
        assert_eq!(read(&nested(3)), (vec!["f {}".to_owned()], false));
        assert_eq!(read(&nested(4)), (Vec::new(), true));
        assert_eq!(read(&nested(70_000)), (Vec::new(), true), "as deep as a body can be");
    }

    #[test]
    fn what_looks_like_a_call_and_cannot_be_read_is_told() {
        for text in [
            r#"{"name":"f","args":{}}"#,
            r#"{"name":"f","parameters":{}}"#,
            r#"{"name":"f","arguments":{},"input":{}}"#,
            r#"{"tool":"f","args":{}}"#,
            r#"{"type":"function","function":{"name":"f"}}"#,
            r#"{"type":"function","function":{"arguments":"{}"}}"#,
            r#"{"type":"function"}"#,
            r#"{"type":"tool_use","name":"f"}"#,
            r#"{"type":"tool_use","input":{}}"#,
            r#"{"type":"custom_tool_call","name":"f"}"#,
            r#"{"tool_calls":{"name":"f","arguments":{}}}"#,
            r#"{"tool_calls":[1]}"#,
            r#"{"toolUse":{"name":"f","input":{}}}"#,
            r#"{"function_call":"f"}"#,
            r#"{"functionCall":{"args":{}}}"#,
            r#"{"method":"tools/call"}"#,
            r#"{"name":7,"arguments":{}}"#,
        ] {
            let (calls, unreadable) = read(text);
            assert!(unreadable && calls.is_empty(), "{text}: {calls:?}");
            let beside = format!(r#"[{{"name":"g","arguments":{{}}}},{text}]"#);
            assert_eq!(read(&beside), (vec!["g {}".to_owned()], true), "{beside}");
        }
    }
}
