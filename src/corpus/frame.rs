//! Answers and expectations as JSON in one order of members, so that they can be compared as bytes.
//!
//! Members of the answer's own frame may stand in any order in a corpus; the caller's values inside it, such as
//! repaired arguments, may not, and neither may their numbers be spelt in another way.

use crate::json::{Kind, Value, write_string, write_value};

/// How the members of an answer are arranged.
pub(super) enum Frame {
    /// A value, as it stands.
    Value,
    /// An object with some of these members, in this order.
    Members(&'static [(&'static str, &'static Frame)]),
    /// An array of such.
    Items(&'static Frame),
    /// An array of rows that begin with their index, or `{repeat, times}`: one row without it, so many times.
    Rows(&'static [(&'static str, &'static Frame)]),
}

/// What happens to members that the frame does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// An expectation with such a member is a mistake.
    Refused,
    /// A report says more than an expectation.
    Dropped,
}

const VALUE: Frame = Frame::Value;

/// An argument check.
pub(super) const CHECK: Frame = Frame::Members(&[
    ("refusal", &VALUE),
    ("verdict", &VALUE),
    ("repairs", &Frame::Items(&REPAIR)),
    ("defects", &Frame::Items(&DEFECT)),
    ("repaired", &VALUE),
    ("not_checked", &VALUE),
]);
const REPAIR: Frame = Frame::Members(&[
    ("path", &VALUE),
    ("rule", &VALUE),
    ("op", &VALUE),
    ("before", &VALUE),
    ("after", &VALUE),
]);
const DEFECT: Frame = Frame::Members(&[("path", &VALUE), ("code", &VALUE)]);

/// A split profile.
pub(super) const PROFILE: Frame = Frame::Members(&[
    ("refusal", &VALUE),
    ("rule", &VALUE),
    ("verdict_line", &VALUE),
    ("blocks", &Frame::Members(&[("R-1", &SHARES), ("R-2", &Frame::Rows(ROW)), ("R-3", &GROUPS)])),
]);
const SHARES: Frame = Frame::Members(&[
    ("name_share", &VALUE),
    ("description_share", &VALUE),
    ("schema_share", &VALUE),
    ("reason", &VALUE),
]);
/// A row without its index.
const ROW: &[(&str, &Frame)] = &[
    ("name", &VALUE),
    ("name_share", &VALUE),
    ("description_share", &VALUE),
    ("schema_share", &VALUE),
    ("reason", &VALUE),
];
const GROUPS: Frame = Frame::Members(&[("groups", &Frame::Items(&GROUP)), ("group_count", &VALUE)]);
const GROUP: Frame =
    Frame::Members(&[("group", &VALUE), ("tools", &VALUE), ("indices", &VALUE), ("size", &VALUE)]);

/// The most rows that an expectation can ask for.
const MAX_ROWS: usize = 10_000;

/// `value` arranged by `frame`.
///
/// # Errors
/// What cannot be part of an answer, to be said behind the answer's name.
pub(super) fn arranged(value: Value<'_>, frame: &Frame, others: Others) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    Arranger { others, out: &mut out }.value(value, frame)?;
    Ok(out)
}

struct Arranger<'o> {
    others: Others,
    out: &'o mut Vec<u8>,
}

impl Arranger<'_> {
    fn value(&mut self, value: Value<'_>, frame: &Frame) -> Result<(), String> {
        match frame {
            Frame::Value => write_value(value, self.out),
            Frame::Members(names) => self.members(value, None, names)?,
            Frame::Items(frame) => self.items(value, |own, item| own.value(item, frame))?,
            Frame::Rows(names) if value.kind() == Kind::Object => self.repeated(value, names)?,
            Frame::Rows(names) => self.items(value, |own, item| {
                let index =
                    item.get(b"index").and_then(Value::as_number).ok_or("holds a row without index")?;
                let index = String::from_utf8_lossy(index.lexeme());
                own.members(item, Some(&index), names)
            })?,
        }
        Ok(())
    }

    fn items(
        &mut self,
        array: Value<'_>,
        mut write: impl FnMut(&mut Self, Value<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        if array.kind() != Kind::Array {
            return Err("holds no array where there should be one".to_owned());
        }
        self.out.push(b'[');
        for (index, item) in array.items().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            write(self, item)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn repeated(&mut self, value: Value<'_>, names: &[(&str, &Frame)]) -> Result<(), String> {
        const WRONG: &str = "holds rows that are neither an array nor {repeat, times}";
        let row = value.get(b"repeat").filter(|_| value.len() == 2).ok_or(WRONG)?;
        let times = value.get(b"times").and_then(Value::as_number).ok_or(WRONG)?;
        let times: usize =
            std::str::from_utf8(times.lexeme()).ok().and_then(|text| text.parse().ok()).ok_or(WRONG)?;
        if times > MAX_ROWS {
            return Err(format!("holds more than {MAX_ROWS} rows"));
        }
        self.out.push(b'[');
        for index in 0..times {
            if index > 0 {
                self.out.push(b',');
            }
            self.members(row, Some(&index.to_string()), names)?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// An object with the members of `names` that `value` has, behind its index if it is a row.
    fn members(
        &mut self,
        value: Value<'_>,
        index: Option<&str>,
        names: &[(&str, &Frame)],
    ) -> Result<(), String> {
        if value.kind() != Kind::Object {
            return Err("holds no object where there should be one".to_owned());
        }
        self.out.push(b'{');
        if let Some(index) = index {
            self.out.extend_from_slice(format!("\"index\":{index},").as_bytes());
        }
        let mut met = 0;
        for (name, frame) in names {
            let Some(member) = value.get(name.as_bytes()) else { continue };
            if met > 0 {
                self.out.push(b',');
            }
            met += 1;
            write_string(name.as_bytes(), self.out);
            self.out.push(b':');
            self.value(member, frame)?;
        }
        let all = met + usize::from(index.is_some() && value.get(b"index").is_some());
        if self.others == Others::Refused && all != value.len() {
            return Err("holds a member that no answer has".to_owned());
        }
        self.out.push(b'}');
        Ok(())
    }
}
