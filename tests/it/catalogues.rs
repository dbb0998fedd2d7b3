//! The catalogues in the test data, each as the text of a list of tools.

use std::fs;
use std::path::{Path, PathBuf};

use millwork_dock::json::{Document, Value, write_value};

use crate::data;

/// A catalogue: where it came from, and its text.
pub(crate) struct Catalogue {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// All of them; none, said plainly, where the data is absent.
pub(crate) fn all() -> Option<Vec<Catalogue>> {
    let root = data::path("mcp")?;
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut catalogues = Vec::new();
    let mut snapshots = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("snap") => snapshots.push(text),
            Some("json") if name.starts_with("livemcpbench") => servers(&text, &mut catalogues),
            Some("json") if name.starts_with("allure") => {
                catalogues.push(Catalogue { name, text: categories(&text) });
            }
            Some("json") => catalogues.push(Catalogue { name, text }),
            _ => {}
        }
    }
    let github = format!("[{}]", snapshots.join(","));
    catalogues.push(Catalogue { name: "github-mcp-server".to_owned(), text: github });
    Some(catalogues)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

/// A list of servers, each with `tools` by name of a server, each of those with `tools`.
fn servers(text: &str, catalogues: &mut Vec<Catalogue>) {
    let document = parse(text);
    for (index, server) in document.root().items().enumerate() {
        for listed in server.get(b"tools").unwrap().members() {
            let name = format!("livemcpbench {index} {}", String::from_utf8_lossy(&listed.name().decode()));
            catalogues.push(Catalogue { name, text: verbatim(listed.value().get(b"tools").unwrap()) });
        }
    }
}

/// Categories, each with `tools`.
fn categories(text: &str) -> String {
    let document = parse(text);
    let categories = document.root().get(b"categories").unwrap();
    let tools: Vec<String> = categories
        .items()
        .flat_map(|category| category.get(b"tools").unwrap().items())
        .map(verbatim)
        .collect();
    format!("[{}]", tools.join(","))
}

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes().to_vec()).unwrap()
}

/// The value with its number lexemes and the order of its members.
fn verbatim(value: Value<'_>) -> String {
    let mut out = Vec::new();
    write_value(value, &mut out);
    String::from_utf8(out).unwrap()
}
