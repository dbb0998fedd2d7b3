//! The report of a profile (decision D7).

use super::tokens::ID;
use super::{CRITERIA_ID, CRITERIA_REVISION, Profile, Split};
use crate::json::write_string;

/// What R-1 says of itself.
const WHOLE_CAVEAT: &str = "Each share is of all definition tokens of the catalogue as submitted, rounded down to a multiple of 0.5; \
                            what a client loads of it is another question.";
/// What R-2 says of itself.
const TOOLS_CAVEAT: &str = "Each row's shares are of that tool alone, rounded down to a multiple of 0.5. Rows stand as the tools were \
                            submitted, which is no ranking.";
/// What R-3 says of itself.
const GROUPS_CAVEAT: &str = "Two schemas are identical if their serialisations are the same bytes, members in the order in which they were \
                             submitted. The same members in another order are not identical: this is stricter than comparing sorted members.";

impl Profile {
    /// The verdict line, without the time that the published operation appends (`verdict_grammar`).
    #[must_use]
    pub fn verdict_line(&self) -> String {
        let (tools, groups) = (self.tools.len(), self.groups.len());
        format!("TOOL-CATALOGUE SPLIT PROFILE — tools: {tools} — schema-identity groups: {groups}")
    }

    /// Appends the report, one JSON object; `stamp` follows the verdict line.
    pub fn write_report(&self, stamp: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"criteria_id\":");
        write_string(CRITERIA_ID.as_bytes(), out);
        for (name, value) in [
            ("criteria_revision", CRITERIA_REVISION),
            ("tokenizer", ID),
            ("verdict_line", &(self.verdict_line() + stamp)),
        ] {
            write_name(name, out);
            write_string(value.as_bytes(), out);
        }
        out.extend_from_slice(b",\"blocks\":{\"R-1\":{");
        write_split(self.catalogue, out);
        out.extend_from_slice(b"},\"R-2\":[");
        for (index, tool) in self.tools.iter().enumerate() {
            out.extend_from_slice(if index > 0 { b",{" } else { b"{" });
            out.extend_from_slice(format!("\"index\":{index},\"name\":").as_bytes());
            write_tool_name(tool.name.as_deref(), out);
            out.push(b',');
            write_split(tool.split, out);
            out.push(b'}');
        }
        out.extend_from_slice(b"],\"R-3\":{\"groups\":[");
        for (group, indices) in self.groups.iter().enumerate() {
            self.write_group(group, indices, out);
        }
        out.extend_from_slice(format!("],\"group_count\":{},\"caveat\":", self.groups.len()).as_bytes());
        write_string(GROUPS_CAVEAT.as_bytes(), out);
        out.extend_from_slice(b"}},\"caveats\":{\"R-1\":");
        write_string(WHOLE_CAVEAT.as_bytes(), out);
        write_name("R-2", out);
        write_string(TOOLS_CAVEAT.as_bytes(), out);
        out.extend_from_slice(b"}}");
    }

    fn write_group(&self, group: usize, indices: &[usize], out: &mut Vec<u8>) {
        out.extend_from_slice(if group > 0 { b",{" } else { b"{" });
        out.extend_from_slice(format!("\"group\":{group},\"tools\":[").as_bytes());
        for (position, index) in indices.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            write_tool_name(self.tools.get(*index).and_then(|tool| tool.name.as_deref()), out);
        }
        let numbers: Vec<String> = indices.iter().map(usize::to_string).collect();
        let rest = format!("],\"indices\":[{}],\"size\":{}}}", numbers.join(","), indices.len());
        out.extend_from_slice(rest.as_bytes());
    }
}

fn write_name(name: &str, out: &mut Vec<u8>) {
    out.push(b',');
    write_string(name.as_bytes(), out);
    out.push(b':');
}

fn write_tool_name(name: Option<&[u8]>, out: &mut Vec<u8>) {
    match name {
        Some(name) => write_string(name, out),
        None => out.extend_from_slice(b"null"),
    }
}

/// The members of three shares and their reason, without braces.
fn write_split(split: Split, out: &mut Vec<u8>) {
    let (shares, reason) = match split {
        Split::Shares(shares) => {
            ([shares.name, shares.description, shares.schema].map(super::Share::as_str), "null".to_owned())
        }
        Split::None(reason) => (["null"; 3], format!("\"{}\"", reason.code())),
    };
    let [name, description, schema] = shares;
    let members = format!(
        "\"name_share\":{name},\"description_share\":{description},\"schema_share\":{schema},\"reason\":{reason}"
    );
    out.extend_from_slice(members.as_bytes());
}
