//! The cases: one closed table, which `list`, `explain`, the run, the reports and the tests read.

mod file;
mod labelled;
mod table;

pub(crate) use file::candidate_body;
pub use file::{Expectation, Spec};
pub use labelled::{Expected, Labelled, LabelledTrouble};

/// How much a case weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Millwork needs it. A dock that fails is not ready, and the run ends with 1.
    Required,
    /// Good practice, or what this kit looks at beyond Millwork's. It fails the run only with `--strict`.
    Recommended,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Severity::Required => "required",
            Severity::Recommended => "recommended",
        }
    }
}

/// What the endpoint is said to demand, in the kit's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Access {
    /// No key.
    Public,
    /// A key; for Millwork that is managed access.
    Authenticated,
}

impl Access {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Access::Public => "public",
            Access::Authenticated => "authenticated",
        }
    }
}

/// One case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// Its id. A family ends in `.<id>` or `.<n>`.
    pub id: &'static str,
    /// The section of the contract (`contract/verifier-dock.v1.json`) that asks for it.
    pub requirement: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// For authenticated endpoints only.
    pub authenticated_only: bool,
    /// What it shows.
    pub shows: &'static str,
    /// What to do when it fails.
    pub todo: &'static str,
    /// How it is played.
    pub play: Play,
}

/// How a case is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Play {
    /// The first call decides it, and whether the rest makes sense.
    First,
    /// One call, described in a file under `cases/`.
    File(&'static str),
    /// Several calls, or one of a special kind.
    Procedure(Procedure),
    /// One for each labelled case, each structured one, each overlap or each retired key.
    Family(Family),
    /// Looks at all answers of the run.
    Overall(Rule),
}

/// Calls that a file cannot describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is explained by its case")]
pub enum Procedure {
    ProbeRepeated,
    MarkerAlike,
    BodyAtCap,
    BodyOverCap,
    SlowBody,
    StalledBody,
    InvalidUtf8,
    AllowHeader,
    DeepCandidate,
    MissingKey,
    WrongKey,
    SimilarKeys,
    RefusedBeforeBody,
    RefusedBeforeParsing,
    Challenge,
    SchemeCase,
    Repeatable,
    Http2Probe,
    Http2Verdict,
}

/// Cases of one lane are played one after the other, lanes beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after its cases")]
pub enum Lane {
    Main,
    SlowBody,
    StalledBody,
}

/// Cases that multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is explained by its case")]
pub enum Family {
    Labelled,
    TextMatches,
    Overlap,
    Retired,
}

/// What is looked at in every answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "each is explained by its case")]
pub enum Rule {
    Answers,
    ProbeBudget,
    RunBudget,
    Size,
    Body,
    Schema,
    RepeatedNames,
    MediaType,
    NoStore,
    ErrorWithoutVerdict,
    ErrorCode,
    ErrorEcho,
    KeyEcho,
}

/// All cases, in the order of the reports.
pub fn all() -> impl Iterator<Item = &'static Case> {
    table::TABLE.iter().copied().flatten()
}

/// The case of this id; an instance of a family (`labelled.my-case`) finds its family.
#[must_use]
pub fn find(id: &str) -> Option<&'static Case> {
    let family = |case: &&Case| {
        let stem = case.id.strip_suffix("<id>").or_else(|| case.id.strip_suffix("<n>"));
        stem.is_some_and(|stem| id.len() > stem.len() && id.starts_with(stem))
    };
    all().find(|case| case.id == id).or_else(|| all().find(family))
}

impl Case {
    const fn new(severity: Severity, id: &'static str, requirement: &'static str, play: Play) -> Case {
        Case { id, requirement, severity, authenticated_only: false, shows: "", todo: "", play }
    }

    const fn required(id: &'static str, requirement: &'static str, play: Play) -> Case {
        Case::new(Severity::Required, id, requirement, play)
    }

    const fn recommended(id: &'static str, requirement: &'static str, play: Play) -> Case {
        Case::new(Severity::Recommended, id, requirement, play)
    }

    const fn shows(self, shows: &'static str) -> Case {
        Case { shows, ..self }
    }

    const fn todo(self, todo: &'static str) -> Case {
        Case { todo, ..self }
    }

    const fn authenticated(self) -> Case {
        Case { authenticated_only: true, ..self }
    }

    /// The id of one of a family.
    #[must_use]
    pub fn instance(&self, name: &str) -> String {
        let stem = self.id.strip_suffix("<id>").or_else(|| self.id.strip_suffix("<n>"));
        stem.map_or_else(|| self.id.to_owned(), |stem| format!("{stem}{name}"))
    }

    /// Which cases it is played after. Those that spend their time waiting have a lane each.
    #[must_use]
    pub const fn lane(&self) -> Lane {
        match self.play {
            Play::Procedure(Procedure::SlowBody) => Lane::SlowBody,
            Play::Procedure(Procedure::StalledBody) => Lane::StalledBody,
            _ => Lane::Main,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::contract;

    #[test]
    fn every_case_is_complete_and_rests_on_a_section_of_the_contract() {
        let mut ids = Vec::new();
        for case in all() {
            assert!(contract::section(case.requirement).is_some(), "{}: {}", case.id, case.requirement);
            assert!(case.shows.ends_with('.') && case.todo.ends_with('.'), "{}", case.id);
            assert!(!ids.contains(&case.id), "{}", case.id);
            ids.push(case.id);
            if let Play::File(text) = case.play {
                let spec = Spec::read(text).unwrap_or_else(|| panic!("{}: cases/{0}.json", case.id));
                assert_eq!(spec.id, case.id);
            }
        }
    }

    #[test]
    fn every_file_under_cases_belongs_to_a_case() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let case = find(path.file_stem().unwrap().to_str().unwrap()).unwrap();
            assert!(matches!(case.play, Play::File(_)), "{}", path.display());
        }
    }

    #[test]
    fn instances_find_their_family() {
        assert_eq!(find("labelled.full-refund").unwrap().id, "labelled.<id>");
        assert_eq!(find("access.overlap_key_accepted.2").unwrap().id, "access.overlap_key_accepted.<n>");
        assert_eq!(find("probe.reserved").unwrap().id, "probe.reserved");
        assert_eq!(find("labelled.").map(|case| case.id), None);
        assert_eq!(find("probe").map(|case| case.id), None);
    }
}
