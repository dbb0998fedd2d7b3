//! Reading single values out of a parsed TOML file, where a value that does not fit is reported once and the
//! walk goes on.

use super::keys::{Bound, TABLES, Table};
use super::mistake::Mistake;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Stands in for a value that could not be had. Only [`Walk::report`] makes one, so none goes unreported.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reported(());

/// A value, or a mistake that has been reported.
pub(super) type Read<T> = Result<T, Reported>;

/// A value and its line.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) line: usize,
    pub(super) value: T,
}

/// One table of the file under its name, such as `limits` or `dock[1]`.
pub(super) struct Section<'a> {
    name: String,
    line: Option<usize>,
    table: &'a DeTable<'a>,
}

impl<'a> Section<'a> {
    /// A section's own name, as mistakes name it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where the section begins; the top level begins nowhere.
    pub(super) fn line(&self) -> Option<usize> {
        self.line
    }

    /// The full name of `key` in this section.
    pub(super) fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    /// Whether `key` is written at all.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Whether `key` is an array that holds something.
    pub(super) fn has_items(&self, key: &str) -> bool {
        let found = self.get(key).map(Spanned::get_ref);
        matches!(found, Some(DeValue::Array(items)) if !items.is_empty())
    }

    /// The line of `key`, where it is written.
    pub(super) fn line_of(&self, walk: &Walk<'_>, key: &str) -> Option<usize> {
        self.get(key).map(|found| walk.line_of(found.span().start))
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.get(key)
    }
}

/// One walk over the file: where relative paths start, and what was wrong so far.
pub(super) struct Walk<'a> {
    base: &'a Path,
    line_starts: Vec<usize>,
    pub(super) mistakes: Vec<Mistake>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(text: &str, base: &'a Path) -> Walk<'a> {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Walk { base, line_starts, mistakes: Vec::new() }
    }

    /// The line, from 1, that byte `at` is on.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at)
    }

    /// Takes a mistake down.
    pub(super) fn report(
        &mut self,
        line: Option<usize>,
        key: impl Into<String>,
        what: impl Into<String>,
    ) -> Reported {
        self.mistakes.push(Mistake { line, key: key.into(), what: what.into() });
        Reported(())
    }

    /// The top level, its names checked.
    pub(super) fn root(&mut self, table: &'a DeTable<'a>, known: &Table) -> Section<'a> {
        let section = Section { name: String::new(), line: None, table };
        self.check_names(&section, known);
        section
    }

    /// The table under `key`, its names checked.
    pub(super) fn section(
        &mut self,
        of: &Section<'a>,
        key: &str,
        known: &Table,
    ) -> Read<Option<Section<'a>>> {
        let Some(found) = of.get(key) else { return Ok(None) };
        self.section_at(of.path(key), found, known).map(Some)
    }

    /// The tables of the array of tables under `key`; none if it is not there.
    pub(super) fn sections(
        &mut self,
        of: &Section<'a>,
        key: &str,
        known: &Table,
    ) -> Read<Vec<Read<Section<'a>>>> {
        let Some(found) = of.get(key) else { return Ok(Vec::new()) };
        let line = self.line_of(found.span().start);
        match found.get_ref() {
            DeValue::Array(items) => Ok(items
                .iter()
                .enumerate()
                .map(|(n, item)| self.section_at(format!("{}[{n}]", of.path(key)), item, known))
                .collect()),
            DeValue::Table(_) => Err(self.report(
                Some(line),
                of.path(key),
                format!("is a single table; put its name in two brackets: [[{key}]]"),
            )),
            other => Err(self.wrong_type(line, of.path(key), &format!("written as [[{key}]]"), other)),
        }
    }

    fn section_at(
        &mut self,
        name: String,
        found: &'a Spanned<DeValue<'a>>,
        known: &Table,
    ) -> Read<Section<'a>> {
        let line = self.line_of(found.span().start);
        let DeValue::Table(table) = found.get_ref() else {
            return Err(self.wrong_type(line, name, "a table", found.get_ref()));
        };
        let section = Section { name, line: Some(line), table };
        self.check_names(&section, known);
        Ok(section)
    }

    fn check_names(&mut self, section: &Section<'a>, known: &Table) {
        for name in section.table.keys() {
            let text: &str = name.get_ref();
            if known.keys.contains(&text) {
                continue;
            }
            let line = self.line_of(name.span().start);
            self.report(Some(line), section.path(&shown(text)), what_of_unknown(text, known));
        }
    }

    /// A string.
    pub(super) fn text(&mut self, of: &Section<'a>, key: &str) -> Read<Option<At<&'a str>>> {
        let Some(found) = of.get(key) else { return Ok(None) };
        let line = self.line_of(found.span().start);
        match found.get_ref() {
            DeValue::String(value) => Ok(Some(At { line, value })),
            other => Err(self.wrong_type(line, of.path(key), "a string", other)),
        }
    }

    /// A string where there may be something else, which is another call's business.
    pub(super) fn text_if_text(&self, of: &Section<'a>, key: &str) -> Option<At<&'a str>> {
        let found = of.get(key)?;
        let DeValue::String(value) = found.get_ref() else { return None };
        Some(At { line: self.line_of(found.span().start), value })
    }

    /// `true` or `false`.
    pub(super) fn boolean(&mut self, of: &Section<'a>, key: &str) -> Read<Option<bool>> {
        let Some(found) = of.get(key) else { return Ok(None) };
        match found.get_ref() {
            DeValue::Boolean(value) => Ok(Some(*value)),
            other => {
                let line = self.line_of(found.span().start);
                Err(self.wrong_type(line, of.path(key), "true or false", other))
            }
        }
    }

    /// A file's name, relative ones from the configuration file's directory.
    pub(super) fn file(&mut self, of: &Section<'a>, key: &str) -> Read<Option<PathBuf>> {
        match self.text(of, key)? {
            None => Ok(None),
            Some(At { line, value }) if value.is_empty() || value.contains('\0') => Err(self.report(
                Some(line),
                of.path(key),
                "must be the name of a file, and is empty or no name",
            )),
            Some(At { value, .. }) => Ok(Some(self.beside(value))),
        }
    }

    /// `file`, from the configuration file's directory if it is relative.
    pub(super) fn beside(&self, file: &str) -> PathBuf {
        self.base.join(file)
    }

    /// An array of strings. Its elements are named `key[0]` and so on.
    pub(super) fn texts(&mut self, of: &Section<'a>, key: &str) -> Read<Option<Vec<At<&'a str>>>> {
        let Some(found) = of.get(key) else { return Ok(None) };
        let line = self.line_of(found.span().start);
        let DeValue::Array(items) = found.get_ref() else {
            return Err(self.wrong_type(line, of.path(key), "an array of strings", found.get_ref()));
        };
        let all: Vec<Read<At<&'a str>>> = items
            .iter()
            .enumerate()
            .map(|(n, item)| {
                let line = self.line_of(item.span().start);
                match item.get_ref() {
                    DeValue::String(value) => Ok(At { line, value: &**value }),
                    other => Err(self.wrong_type(line, of.path(&format!("{key}[{n}]")), "a string", other)),
                }
            })
            .collect();
        all.into_iter().collect::<Read<Vec<_>>>().map(Some)
    }

    /// A whole number inside its bounds.
    pub(super) fn number(&mut self, of: &Section<'a>, bound: &Bound) -> Read<Option<At<u64>>> {
        let Some(found) = of.get(bound.key) else { return Ok(None) };
        let line = self.line_of(found.span().start);
        let DeValue::Integer(digits) = found.get_ref() else {
            return Err(self.wrong_type(line, of.path(bound.key), "a whole number", found.get_ref()));
        };
        let value = i128::from_str_radix(digits.as_str(), digits.radix()).ok();
        match value.and_then(|value| u64::try_from(value).ok()) {
            Some(value) if (bound.min..=bound.max).contains(&value) => Ok(Some(At { line, value })),
            _ => {
                let Bound { min, max, why, .. } = bound;
                let what = format!("is {}; it must be from {min} to {max}, {why}", shown(digits.as_str()));
                Err(self.report(Some(line), of.path(bound.key), what))
            }
        }
    }

    fn wrong_type(&mut self, line: usize, key: String, wanted: &str, found: &DeValue<'_>) -> Reported {
        let found = match found {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.report(Some(line), key, format!("must be {wanted}, and is {found}"))
    }
}

/// A value as a mistake shows it: short, and on one line.
pub(super) fn shown(value: &str) -> String {
    const MOST: usize = 60;
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut out: String = value.chars().take(MOST).map(plain).collect();
    if value.chars().nth(MOST).is_some() {
        out.push('…');
    }
    out
}

/// The known name most like `name`, if one is like it.
pub(super) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    const ALIKE: f64 = 0.75;
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

fn what_of_unknown(name: &str, known: &Table) -> String {
    if let Some(home) = TABLES.iter().find(|table| !table.name.is_empty() && table.keys.contains(&name)) {
        return match home.name {
            "dock" | "service" => format!("is no setting of this table; it belongs in a [[{}]]", home.name),
            "rate_limit" => format!("is no setting of this table; write rate_limit = {{ {name} = … }}"),
            table => format!("is no setting of this table; it belongs in [{table}]"),
        };
    }
    match nearest(name, known.keys.iter().copied()) {
        Some(like) => format!("is unknown; did you mean `{like}`?"),
        None => format!("is unknown; the settings here are {}", known.keys.join(", ")),
    }
}
