//! Files named on the command line, `-` being standard input.

use std::convert::Infallible;
use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::str::FromStr;

use millwork_dock::json::Document;

use super::Exit;

/// A file to read.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// `-`
    Standard,
    /// A path.
    File(PathBuf),
}

/// Why a command cannot do its work.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The command line, or what a file holds, is wrong.
    Usage(String),
    /// The machine is.
    Environment(String),
}

impl Trouble {
    pub(super) fn exit(&self) -> Exit {
        match self {
            Trouble::Usage(_) => Exit::Usage,
            Trouble::Environment(_) => Exit::Environment,
        }
    }

    /// The same, with a way out where the fault lies in the input.
    pub(super) fn with_hint(self, hint: &str) -> Trouble {
        match self {
            Trouble::Usage(what) => Trouble::Usage(format!("{what}; {hint}")),
            other @ Trouble::Environment(_) => other,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Trouble::Usage(what) | Trouble::Environment(what)) = self;
        f.write_str(what)
    }
}

impl FromStr for Input {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Input, Infallible> {
        Ok(if text == "-" { Input::Standard } else { Input::File(text.into()) })
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Standard => f.write_str("standard input"),
            Input::File(path) => path.display().fmt(f),
        }
    }
}

impl Input {
    pub(super) fn is_standard_input(&self) -> bool {
        matches!(self, Input::Standard)
    }

    /// Everything in it.
    pub(super) fn read(&self) -> Result<Vec<u8>, Trouble> {
        let mut bytes = Vec::new();
        match self {
            Input::Standard => std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes),
            Input::File(path) => std::fs::read(path),
        }
        .map_err(|error| Trouble::Environment(format!("cannot read {self}: {error}")))
    }

    /// The JSON in it.
    pub(super) fn read_json(&self) -> Result<Document, Trouble> {
        let text = self.read()?;
        Document::parse(text.clone()).map_err(|error| {
            let (line, column) = error.line_and_column(&text);
            Trouble::Usage(format!("{self} is not JSON: {} at line {line}, column {column}", error.kind))
        })
    }
}
