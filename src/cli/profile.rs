//! `profile`: what share of a tool catalogue's tokens its names, descriptions and schemas carry.

use std::fmt::Write as _;

use clap::Args;
use millwork_dock::budget::{Budget, DEFAULT_STEPS};
use millwork_dock::json::write_string;
use millwork_dock::profile::tokens::Tokenizer;
use millwork_dock::profile::{
    CRITERIA_ID, CRITERIA_REVISION, Caps, Profile, Reason, Refusal, Share, Split, Stop, profile,
};

use super::catalogue::{self, From};
use super::check::{Format, worse};
use super::input::{Input, Trouble};
use super::{Exit, put, tell};

/// What `profile` takes.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 profiled, 4 refused, 2 usage, 5 failure.

Counts are made exactly and told coarsely: a share is 0, 0.5 or 1, rounded down, and one that would give counts away is
withheld.")]
pub(crate) struct ProfileArgs {
    /// The catalogue, JSON; - is standard input
    #[arg(long, value_name = "FILE")]
    catalogue: Input,
    /// The form of the catalogue
    #[arg(long, value_enum, default_value_t = From::Criteria)]
    from: From,
    /// How to write the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Does what `args` say.
pub(crate) fn run(args: &ProfileArgs) -> Exit {
    match make(args) {
        Ok(exit) => exit,
        Err(trouble) => {
            tell(format_args!("error: {trouble}"));
            trouble.exit()
        }
    }
}

fn make(args: &ProfileArgs) -> Result<Exit, Trouble> {
    let document = catalogue::read(&args.catalogue, args.from)?;
    let tokenizer = Tokenizer::shared().map_err(|wrong| Trouble::Environment(wrong.to_string()))?;
    let budget = &mut Budget::of_steps(DEFAULT_STEPS);
    match profile(tokenizer, document.root(), Caps::PUBLISHED, budget) {
        Ok(profile) => Ok(put(match args.format {
            Format::Json => json(&profile),
            Format::Text => text(&profile, &super::stamp()),
        })),
        Err(Stop::Refused(refusal)) => Ok(worse(put(refused(refusal, args.format)), Exit::Refused)),
        Err(Stop::Exhausted(exhausted)) => Err(Trouble::Environment(exhausted.to_string())),
    }
}

fn json(profile: &Profile) -> String {
    let mut report = Vec::new();
    profile.write_report(&super::stamp(), &mut report);
    String::from_utf8_lossy(&report).into_owned() + "\n"
}

fn refused(refusal: Refusal, format: Format) -> String {
    let (code, rule) = (refusal.code(), refusal.rule());
    if format == Format::Json {
        let rule = rule.map_or(String::new(), |rule| format!(",\"rule\":\"{rule}\""));
        return format!(
            "{{\"criteria_id\":\"{CRITERIA_ID}\",\"criteria_revision\":\"{CRITERIA_REVISION}\",\"refusal\":\"{code}\"{rule}}}\n"
        );
    }
    let rule = rule.map_or(String::new(), |rule| format!(" ({rule})"));
    let hint =
        if refusal == Refusal::NotAList { "\n  `--from` reads other forms of a catalogue." } else { "" };
    format!("refused: {code}{rule}\n\n  `millwork-dock explain {code}` says what to do.{hint}\n")
}

/// The characters of a bar.
const BAR: usize = 8;
/// The longest name that is shown whole.
const MAX_NAME: usize = 44;

/// The report for a person; `stamp` follows the verdict line.
pub(super) fn text(profile: &Profile, stamp: &str) -> String {
    let names: Vec<String> = profile.tools().iter().map(|tool| shown(tool.name.as_deref())).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("the catalogue".len());
    let mut out = format!("{}{stamp}\n\n", profile.verdict_line());
    let column = BAR + 6;
    let _ = writeln!(out, "  {:width$}  {:column$}{:column$}schema", "", "name", "description");
    let mut row = |name: &str, split: Split| {
        let _ = writeln!(out, "  {name:width$}  {}", bars(split));
    };
    row("the catalogue", profile.catalogue());
    for (name, tool) in names.iter().zip(profile.tools()) {
        row(name, tool.split);
    }
    out.push_str("\n  A share is of the row's own tokens, rounded down to 0, 0.5 or 1; rows are in no order of rank.\n");
    let _ = write!(out, "\n{}", groups(profile, &names));
    out
}

fn groups(profile: &Profile, names: &[String]) -> String {
    if !profile.schema_identity_assessable() {
        return "identical schemas: not assessable, fewer than two tools carry a schema\n".to_owned();
    }
    if profile.groups().is_empty() {
        return "identical schemas: none\n".to_owned();
    }
    let mut out = "identical schemas\n  group   size  tools\n".to_owned();
    for (group, indices) in profile.groups().iter().enumerate() {
        let tools: Vec<&str> =
            indices.iter().filter_map(|index| names.get(*index)).map(String::as_str).collect();
        let _ = writeln!(out, "  {group:>5}  {:>5}  {}", indices.len(), tools.join(", "));
    }
    out
}

fn bars(split: Split) -> String {
    match split {
        Split::None(Reason::SharesWithheld) => "withheld: the shares would give the counts away".to_owned(),
        Split::None(Reason::EmptyDefinition | Reason::EmptyCatalogue) => "nothing to divide".to_owned(),
        Split::Shares(shares) => {
            let bars = [shares.name, shares.description, shares.schema].map(bar);
            bars.concat().trim_end().to_owned()
        }
    }
}

fn bar(share: Share) -> String {
    let filled = match share {
        Share::Zero => 0,
        Share::Half => BAR / 2,
        Share::One => BAR,
    };
    format!("{}{} {:<5}", "█".repeat(filled), "·".repeat(BAR - filled), share.as_str())
}

/// A name on one line: cut where it is long, everything that could move the cursor escaped.
fn shown(name: Option<&[u8]>) -> String {
    let Some(name) = name else { return "(no name)".to_owned() };
    let mut quoted = Vec::new();
    write_string(name, &mut quoted);
    let quoted = String::from_utf8_lossy(&quoted);
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let mut shown: String = inner.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if shown.chars().count() > MAX_NAME {
        shown = shown.chars().take(MAX_NAME - 1).chain(['…']).collect();
    }
    shown
}
