//! What a name on a receipt, in a report or in an error means: entries read from the files under `contract/`.

use serde::Deserialize;

use crate::contract;

/// How many names [`Explanations::nearest`] offers at most.
const SUGGESTIONS: usize = 3;
/// Jaro similarity from which a name is worth offering (0: nothing alike, 1: equal).
const LIKENESS: f64 = 0.7;

/// One thing that can be explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The part of the contract that it belongs to, such as `Repair rules`.
    pub group: String,
    /// All its names, the one it is known by first: `R7`, `wrap-single-in-array`.
    pub names: Vec<String>,
    /// What it means, as plain text of one line or more.
    pub text: String,
}

/// Everything that the compiled-in contract explains, group by group.
#[derive(Debug)]
pub struct Explanations {
    entries: Vec<Entry>,
}

impl Explanations {
    /// Reads the compiled-in contract.
    ///
    /// # Errors
    /// A file under `contract/` that is not what this module reads: a fault of the build, which tests exclude.
    pub fn load() -> Result<Explanations, serde_json::Error> {
        let criteria: Criteria = serde_json::from_str(contract::TOOL_ARGUMENT)?;
        let mut entries: Vec<Entry> = criteria.whitelist.iter().map(Rule::entry).collect();
        entries.extend(criteria.defect_codes.iter().map(Defect::entry));
        entries.extend(headed_entries(contract::ERRORS));
        entries.extend(headed_entries(contract::ANCHORS).map(in_anchor_group));
        Ok(Explanations { entries })
    }

    /// All entries; those of one group stand together.
    #[must_use]
    pub fn all(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry known by exactly this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.names.iter().any(|known| known == name))
    }

    /// Up to three names that a mistyped `name` may have meant, the likeliest first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        let wanted = name.to_lowercase();
        let mut scored: Vec<(f64, &str)> = self
            .entries
            .iter()
            .flat_map(|entry| &entry.names)
            .map(|known| (strsim::jaro(&wanted, &known.to_lowercase()), known.as_str()))
            .filter(|(likeness, _)| *likeness >= LIKENESS)
            .collect();
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        scored.into_iter().take(SUGGESTIONS).map(|(_, known)| known).collect()
    }
}

/// The parts of `tool-argument.v1.json` that are explained.
#[derive(Deserialize)]
struct Criteria {
    whitelist: Vec<Rule>,
    defect_codes: Vec<Defect>,
}

#[derive(Deserialize)]
struct Rule {
    id: String,
    name: String,
    applies: String,
    does: String,
    adds_nothing: String,
}

impl Rule {
    fn entry(&self) -> Entry {
        let Rule { id, name, applies, does, adds_nothing } = self;
        let anchor = format!("without_{}_{}", id.to_lowercase(), name.replace('-', "_"));
        Entry {
            group: "Repair rules".to_owned(),
            names: vec![id.clone(), name.clone()],
            text: format!("Applies to: {applies}\n{does}\n{adds_nothing}\nAnchor: {anchor}"),
        }
    }
}

#[derive(Deserialize)]
struct Defect {
    code: String,
    keyword: Option<String>,
    means: String,
}

impl Defect {
    fn entry(&self) -> Entry {
        let Defect { code, keyword, means } = self;
        let keyword = keyword.as_ref().map(|keyword| format!("Keyword: {keyword}\n")).unwrap_or_default();
        Entry {
            group: "Defect codes".to_owned(),
            names: vec![code.clone()],
            text: format!("{means}\n{keyword}Anchor: no_{code}"),
        }
    }
}

/// The entries of a Markdown file: each stands under a heading ``### `name` ``, its group under `## Group`.
fn headed_entries(markdown: &str) -> impl Iterator<Item = Entry> {
    markdown.split("\n## ").skip(1).flat_map(|section| {
        let group = section.lines().next().unwrap_or_default();
        section.split("\n### `").skip(1).filter_map(move |part| {
            let (name, text) = part.split_once("`\n")?;
            Some(Entry { group: group.to_owned(), names: vec![name.to_owned()], text: plain(text) })
        })
    })
}

/// Text as a terminal shows it: list marks and code quotes gone, nothing else changed.
fn plain(markdown: &str) -> String {
    let lines: Vec<String> = markdown
        .trim()
        .lines()
        .map(|line| line.strip_prefix("- ").unwrap_or(line).replace('`', ""))
        .collect();
    lines.join("\n")
}

/// `anchors.md` and `errors.md` both have a section `Refusals`; this keeps them apart.
fn in_anchor_group(entry: Entry) -> Entry {
    let group = match entry.group.as_str() {
        "Score" => entry.group,
        group => format!("Anchors: {}", group.to_lowercase()),
    };
    Entry { group, ..entry }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn reads_names_groups_and_text_from_markdown() {
        let markdown = "# T\n\n### `outside`\n\n## One\n\nIntro.\n\n### `a`\n\n- X: `y`\n- Z\n\n## Two\n\n### `b`\n\nText\non two lines.\n";
        let entries: Vec<Entry> = headed_entries(markdown).collect();
        let entry = |group: &str, name: &str, text: &str| Entry {
            group: group.to_owned(),
            names: vec![name.to_owned()],
            text: text.to_owned(),
        };
        assert_eq!(entries, [entry("One", "a", "X: y\nZ"), entry("Two", "b", "Text\non two lines.")]);
    }

    #[test]
    fn every_name_is_explained_once() {
        let explanations = Explanations::load().unwrap();
        let mut names: Vec<&String> = explanations.all().iter().flat_map(|entry| &entry.names).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "a name stands for two things");
        assert!(explanations.all().iter().all(|entry| !entry.text.trim().is_empty()));
    }

    #[test]
    fn finds_exactly_and_offers_what_is_near() {
        let explanations = Explanations::load().unwrap();
        assert_eq!(explanations.find("R7"), explanations.find("wrap-single-in-array"));
        assert_eq!(explanations.find("r7"), None, "names are exact");
        assert_eq!(explanations.nearest("r7").first(), Some(&"R7"));
        assert_eq!(explanations.nearest("type_missmatch").first(), Some(&"type_mismatch"));
        assert_eq!(explanations.nearest("§§§"), Vec::<&str>::new());
    }
}
