//! `explain [NAME]`: what an anchor, a rule or a code means.

use super::{Exit, put, tell};
use clap::Args;
use millwork_dock::explain::{Entry, Explanations};
use std::fmt::Write as _;

/// What to explain.
#[derive(Debug, Args)]
pub(crate) struct Command {
    /// An anchor, a repair rule (R1 or its name), a defect code, a refusal or an error code; without it, all names
    name: Option<String>,
}

/// Prints the entry of the name, or all names by group.
pub(crate) fn run(command: &Command) -> Exit {
    let explanations = match Explanations::load() {
        Ok(explanations) => explanations,
        Err(error) => {
            tell(format_args!("the contract that is built in cannot be read: {error}"));
            return Exit::Environment;
        }
    };
    let Some(name) = &command.name else { return put(listing(&explanations)) };
    if let Some(entry) = explanations.find(name) {
        return put(format_args!("{} ({})\n{}\n", entry.names.join(", "), entry.group, entry.text));
    }
    let near = explanations.nearest(name);
    let advice = if near.is_empty() {
        "`millwork-dock explain` lists every name".to_owned()
    } else {
        format!("near it: {}", near.join(", "))
    };
    tell(format_args!("nothing is called `{}`; {advice}", name.escape_debug()));
    Exit::Usage
}

fn listing(explanations: &Explanations) -> String {
    let mut text = String::new();
    let mut group = "";
    for Entry { group: of_entry, names, .. } in explanations.all() {
        if group != of_entry {
            let gap = if group.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{of_entry}");
            group = of_entry;
        }
        let _ = writeln!(text, "  {}", names.join("  "));
    }
    text
}
