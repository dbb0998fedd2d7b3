//! Catalogues in other forms than the criteria take, made into a list of `{name, description, inputSchema}`.
//!
//! Only the command converts. The engine and the dock take what the criteria say.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use millwork_dock::json::{Document, Kind, Value, write_string, write_value};
use millwork_dock::tools::Form;

use super::input::{Input, Trouble};

/// The form of a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// As the criteria say: a list of tools, an object with such a list as `tools`, or {"catalogue": …}
    Criteria,
    /// The answer to `tools/list`, JSON-RPC and all
    ToolsList,
    /// A folder with one MCP tool in each file
    Folder,
    /// `categories[]`, each with `tools`
    Categories,
    /// Tools of `OpenAI`, of chat completions or responses
    #[value(name = "openai")]
    OpenAi,
    /// Tools of Anthropic
    Anthropic,
    /// Tools of Gemini, `functionDeclarations` and all
    Gemini,
}

/// Reads a catalogue and gives it the form that the criteria take.
pub(super) fn read(input: &Input, from: From) -> Result<Document, Trouble> {
    if from == From::Folder {
        return folder(input);
    }
    let document = input.read_json().map_err(|trouble| match input {
        Input::File(path) if path.is_dir() => trouble_with_folder(path),
        _ => trouble,
    })?;
    let form = match from {
        From::Criteria | From::Folder => return Ok(document),
        From::ToolsList | From::Categories => Form::Mcp,
        From::OpenAi => Form::OpenAi,
        From::Anthropic => Form::Anthropic,
        From::Gemini => Form::Gemini,
    };
    let mut list = List::default();
    let roots = match from {
        From::Categories => document.root().get(b"categories").into_iter().flat_map(Value::items).collect(),
        _ => vec![document.root()],
    };
    for tool in roots.into_iter().filter_map(|root| form.declarations(root)).flatten() {
        list.push(tool, form);
    }
    list.document(input)
}

fn trouble_with_folder(path: &Path) -> Trouble {
    Trouble::Usage(format!(
        "{} is a folder; --from folder reads one tool from each file in it",
        path.display()
    ))
}

/// Every file of a folder in the order of their names.
fn folder(input: &Input) -> Result<Document, Trouble> {
    let Input::File(path) = input else {
        return Err(Trouble::Usage("--from folder needs a folder, not standard input".to_owned()));
    };
    let cannot = |error| Trouble::Environment(format!("cannot read the folder {}: {error}", path.display()));
    let entries: Result<Vec<_>, _> = fs::read_dir(path).map_err(cannot)?.collect();
    let mut files: Vec<_> = entries.map_err(cannot)?.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    let mut list = List::default();
    for file in files {
        let document = Input::File(file).read_json()?;
        list.push(document.root(), Form::Mcp);
    }
    list.document(input)
}

/// The text of a list of tools.
#[derive(Default)]
struct List(Vec<u8>);

impl List {
    /// Adds a tool. What is no object stays what it is, for the engine to refuse.
    fn push(&mut self, tool: Value<'_>, form: Form) {
        let out = &mut self.0;
        out.push(if out.is_empty() { b'[' } else { b',' });
        if tool.kind() != Kind::Object {
            return write_value(tool, out);
        }
        out.push(b'{');
        let mut first = true;
        let parts = [
            ("name", tool.get(b"name")),
            ("description", tool.get(b"description")),
            ("inputSchema", form.schema(tool)),
        ];
        for (name, part) in parts {
            let Some(part) = part else { continue };
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
            write_string(name.as_bytes(), out);
            out.push(b':');
            write_value(part, out);
        }
        out.push(b'}');
    }

    fn document(mut self, input: &Input) -> Result<Document, Trouble> {
        if self.0.is_empty() {
            let what = format!("{input} holds no tools in the form that --from names");
            return Err(Trouble::Usage(what));
        }
        self.0.push(b']');
        Document::parse(self.0).map_err(|error| Trouble::Environment(format!("{input}: {error}")))
    }
}
