//! `enum` and `uniqueItems`, linear whatever their size: by hash once they are more than a few.

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::OnceLock;

use crate::budget::{Budget, Exhausted};
use crate::json::{Document, Kind, Value, equal, hash, to_lowercase};

/// Up to so many values are compared one by one.
const FEW: usize = 8;

/// The list of an `enum`.
#[derive(Debug)]
pub(super) struct Enumeration {
    /// The list's node in the schema's document.
    list: u32,
    all_strings: bool,
    by_hash: OnceLock<ByHash>,
    /// The entry for each lower-case form; none where several differ in case only.
    by_lowercase: OnceLock<HashMap<Vec<u8>, Option<u32>>>,
}

#[derive(Debug)]
struct ByHash {
    state: RandomState,
    entries: HashMap<u64, Vec<u32>>,
}

impl Enumeration {
    pub(super) fn new(list: Value<'_>) -> Enumeration {
        Enumeration {
            list: list.node(),
            all_strings: list.items().all(|entry| entry.kind() == Kind::String),
            by_hash: OnceLock::new(),
            by_lowercase: OnceLock::new(),
        }
    }

    pub(super) fn holds_null(&self, source: &Document) -> bool {
        !self.all_strings && source.value_at(self.list).items().any(|entry| entry.kind() == Kind::Null)
    }

    pub(super) fn contains(
        &self,
        source: &Document,
        value: Value<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<bool, Exhausted> {
        let list = source.value_at(self.list);
        if self.all_strings && value.kind() != Kind::String {
            return Ok(false);
        }
        if list.len() <= FEW {
            for entry in list.items() {
                if equal(entry, value, budget)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let index = if let Some(index) = self.by_hash.get() {
            index
        } else {
            let index = ByHash::new(list, budget)?;
            self.by_hash.get_or_init(|| index)
        };
        for entry in index.entries.get(&hash(value, &index.state, budget)?).into_iter().flatten() {
            if equal(source.value_at(*entry), value, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The entry that `text` equals but for case, if the list is all strings and there is exactly one (R9).
    /// An entry that stands in the list twice is one entry.
    pub(super) fn match_case(
        &self,
        source: &Document,
        text: &[u8],
        budget: &mut Budget<'_>,
    ) -> Result<Option<u32>, Exhausted> {
        if !self.all_strings {
            return Ok(None);
        }
        let by_lowercase = if let Some(map) = self.by_lowercase.get() {
            map
        } else {
            let map = lowercase_map(source, self.list, budget)?;
            self.by_lowercase.get_or_init(|| map)
        };
        budget.spend(text.len() as u64 / 8 + 1)?;
        Ok(by_lowercase.get(&to_lowercase(text)).copied().flatten())
    }
}

fn lowercase_map(
    source: &Document,
    list: u32,
    budget: &mut Budget<'_>,
) -> Result<HashMap<Vec<u8>, Option<u32>>, Exhausted> {
    let mut map: HashMap<Vec<u8>, Option<u32>> = HashMap::new();
    for entry in source.value_at(list).items() {
        let text = source.text_at(entry.node());
        budget.spend(text.raw().len() as u64 / 8 + 4)?;
        map.entry(to_lowercase(&text.decode()))
            .and_modify(|one| {
                if one.is_some_and(|node| source.text_at(node) != text) {
                    *one = None;
                }
            })
            .or_insert(Some(entry.node()));
    }
    Ok(map)
}

impl ByHash {
    fn new(list: Value<'_>, budget: &mut Budget<'_>) -> Result<ByHash, Exhausted> {
        let state = RandomState::new();
        let mut entries: HashMap<u64, Vec<u32>> = HashMap::with_capacity(list.len());
        for entry in list.items() {
            budget.spend(4)?;
            entries.entry(hash(entry, &state, budget)?).or_default().push(entry.node());
        }
        Ok(ByHash { state, entries })
    }
}

/// Whether no two items of an array are equal; true for any other value.
pub(super) fn all_unique(value: Value<'_>, budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
    if value.kind() != Kind::Array {
        return Ok(true);
    }
    if value.len() <= FEW {
        for (index, item) in value.items().enumerate() {
            for earlier in value.items().take(index) {
                if equal(earlier, item, budget)? {
                    return Ok(false);
                }
            }
        }
        return Ok(true);
    }
    let state = RandomState::new();
    let mut seen: HashMap<u64, Vec<Value<'_>>> = HashMap::with_capacity(value.len());
    for item in value.items() {
        budget.spend(4)?;
        let alike = seen.entry(hash(item, &state, budget)?).or_default();
        for earlier in alike.iter() {
            if equal(*earlier, item, budget)? {
                return Ok(false);
            }
        }
        alike.push(item);
    }
    Ok(true)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn unique(text: &str) -> bool {
        let document = Document::parse(text.as_bytes().to_vec()).unwrap();
        all_unique(document.root(), &mut Budget::of_steps(100_000)).unwrap()
    }

    #[test]
    fn finds_equal_items_in_short_and_long_lists() {
        let padding: String = "\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",".to_owned();
        for pad in ["", &padding] {
            assert!(unique(&format!("[{pad}1,\"1\",[1],{{\"a\":1}},true]")));
            assert!(!unique(&format!("[{pad}1,2,1.0]")));
            assert!(!unique(&format!("[{pad}{{\"a\":1,\"b\":2}},{{\"b\":2,\"a\":1e0}}]")));
        }
    }
}
