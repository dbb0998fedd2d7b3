//! Mistakes of a configuration, collected so that one run shows them all.

use std::fmt;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The line of the file, from 1, where the mistake has one.
    pub line: Option<usize>,
    /// The setting, as in `dock[1].access` (docks count from 0); empty if it is about the file as a whole.
    pub key: String,
    /// What is wrong and how to put it right; a sentence that goes on after the key.
    pub what: String,
}

/// Every mistake of one configuration; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes {
    origin: String,
    list: Vec<Mistake>,
}

impl Mistakes {
    /// The mistakes of `origin`, a file's name, in the order of its lines; those without a line come last.
    #[must_use]
    pub fn new(origin: impl Into<String>, mut list: Vec<Mistake>) -> Mistakes {
        list.sort_by_key(|mistake| mistake.line.unwrap_or(usize::MAX));
        Mistakes { origin: origin.into(), list }
    }

    /// The only mistake there is: one about the whole of `origin`.
    #[must_use]
    pub fn about_the_file(origin: impl Into<String>, what: impl Into<String>) -> Mistakes {
        let what = what.into();
        Mistakes::new(origin, vec![Mistake { line: None, key: String::new(), what }])
    }

    /// The mistakes, in the order of the file.
    #[must_use]
    pub fn list(&self) -> &[Mistake] {
        &self.list
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if self.key.is_empty() { f.write_str(&self.what) } else { write!(f, "`{}` {}", self.key, self.what) }
    }
}

impl fmt::Display for Mistakes {
    /// A heading with the count, then one numbered paragraph for each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.list.len() {
            1 => write!(f, "1 mistake in {}:", self.origin)?,
            n => write!(f, "{n} mistakes in {}:", self.origin)?,
        }
        for (n, mistake) in self.list.iter().enumerate() {
            write!(f, "\n{:>3}. {mistake}", n + 1)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
