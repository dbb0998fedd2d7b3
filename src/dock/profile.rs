//! The split profile in a dock: the candidate is a catalogue, or a published body that holds one.

use super::anchors::{Anchors, Set, Table};
use super::candidate::{TextKind, read_text};
use crate::argument::Met;
use crate::budget::{Budget, Exhausted};
use crate::json::{Value, compact_len_over, trim};
use crate::profile::tokens::Tokenizer;
use crate::profile::{self, Caps, Profile, Refusal, Share, Split, Stop};

/// The anchors of the split profile (decision C8). They tell nothing that the published report does not.
pub static ANCHORS: Table = Table {
    names: &[
        "catalogue_in_contract",
        "tools_within_cap",
        "body_within_cap",
        "catalogue_shares_published",
        "every_tool_share_published",
        "schema_identity_assessable",
        "no_schema_identity_groups",
        "name_share_below_half",
        "description_share_below_half",
        "schema_share_below_half",
        "no_duplicate_names",
        "no_lone_surrogates",
    ],
    base: Set::one(CATALOGUE_IN_CONTRACT).and(Set::range(FIRST_GUARD, END)),
    default_require: Set::NONE,
};

const CATALOGUE_IN_CONTRACT: usize = 0;
const TOOLS_WITHIN_CAP: usize = 1;
const BODY_WITHIN_CAP: usize = 2;
const CATALOGUE_SHARES_PUBLISHED: usize = 3;
const EVERY_TOOL_SHARE_PUBLISHED: usize = 4;
const SCHEMA_IDENTITY_ASSESSABLE: usize = 5;
const NO_SCHEMA_IDENTITY_GROUPS: usize = 6;
const NAME_SHARE_BELOW_HALF: usize = 7;
const DESCRIPTION_SHARE_BELOW_HALF: usize = 8;
const SCHEMA_SHARE_BELOW_HALF: usize = 9;
const FIRST_GUARD: usize = 10;
const END: usize = 12;

/// What a profile of a candidate came to.
pub(super) struct Outcome {
    pub(super) profile: Result<Profile, Refusal>,
    pub(super) anchors: Anchors,
}

/// Profiles a candidate. Text that begins as JSON does is parsed, strictly; any other is no catalogue.
pub(super) fn check(
    tokenizer: &Tokenizer,
    candidate: Value<'_>,
    budget: &mut Budget<'_>,
) -> Result<Outcome, Exhausted> {
    let met = Met::of(candidate.document());
    let Some(text) = candidate.as_text() else { return judge(tokenizer, candidate, met, budget) };
    let refusal = match read_text(text, budget)? {
        TextKind::Json(document) => {
            return judge(tokenizer, document.root(), met.and(Met::of(&document)), budget);
        }
        _ if trim(&text.decode()).len() > Caps::PUBLISHED.body_bytes => Refusal::BodyOverCap,
        TextKind::Broken => Refusal::InvalidRequestBody,
        TextKind::Plain => Refusal::NotAList,
    };
    let body = Set::one(BODY_WITHIN_CAP).only_if(refusal != Refusal::BodyOverCap);
    Ok(refused(refusal, body, met))
}

fn judge(
    tokenizer: &Tokenizer,
    submission: Value<'_>,
    met: Met,
    budget: &mut Budget<'_>,
) -> Result<Outcome, Exhausted> {
    match profile::profile(tokenizer, submission, Caps::PUBLISHED, budget) {
        Ok(profile) => {
            let anchors = anchors_of(&profile, met);
            Ok(Outcome { profile: Ok(profile), anchors })
        }
        Err(Stop::Exhausted(exhausted)) => Err(exhausted),
        Err(Stop::Refused(refusal)) => {
            // Each cap is a rule of its own: it holds or not, whatever else is wrong.
            let tools = profile::count_tools(submission).is_some_and(|tools| tools <= Caps::PUBLISHED.tools);
            let body = !compact_len_over(submission, Caps::PUBLISHED.body_bytes);
            let caps = Set::one(TOOLS_WITHIN_CAP).only_if(tools).and(Set::one(BODY_WITHIN_CAP).only_if(body));
            Ok(refused(refusal, caps, met))
        }
    }
}

/// A catalogue that is not in contract; `caps` are the caps that it keeps.
fn refused(refusal: Refusal, caps: Set, met: Met) -> Outcome {
    let anchors = Anchors {
        table: &ANCHORS,
        listed: Set::range(CATALOGUE_IN_CONTRACT, CATALOGUE_SHARES_PUBLISHED).and(ANCHORS.guards()),
        held: caps.and(ANCHORS.guards_held(met)),
        more: Vec::new(),
    };
    Outcome { profile: Err(refusal), anchors }
}

fn anchors_of(profile: &Profile, met: Met) -> Anchors {
    let every_tool = profile.tools().iter().all(|tool| matches!(tool.split, Split::Shares(_)));
    let mut listed = Set::range(0, NAME_SHARE_BELOW_HALF).and(ANCHORS.guards());
    let mut held = Set::range(CATALOGUE_IN_CONTRACT, CATALOGUE_SHARES_PUBLISHED)
        .and(Set::one(EVERY_TOOL_SHARE_PUBLISHED).only_if(every_tool))
        .and(Set::one(SCHEMA_IDENTITY_ASSESSABLE).only_if(profile.schema_identity_assessable()))
        .and(Set::one(NO_SCHEMA_IDENTITY_GROUPS).only_if(profile.groups().is_empty()))
        .and(ANCHORS.guards_held(met));
    if let Split::Shares(shares) = profile.catalogue() {
        listed = listed.and(Set::range(NAME_SHARE_BELOW_HALF, FIRST_GUARD));
        held = held.and(Set::one(CATALOGUE_SHARES_PUBLISHED));
        for (anchor, share) in [
            (NAME_SHARE_BELOW_HALF, shares.name),
            (DESCRIPTION_SHARE_BELOW_HALF, shares.description),
            (SCHEMA_SHARE_BELOW_HALF, shares.schema),
        ] {
            held = held.and(Set::one(anchor).only_if(share == Share::Zero));
        }
    }
    Anchors { table: &ANCHORS, listed, held, more: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guards_end_the_names() {
        assert_eq!(ANCHORS.names.len(), END);
        assert_eq!(ANCHORS.names.get(FIRST_GUARD..), Some(&super::super::anchors::GUARDS[..]));
    }
}
