//! tools whose schema parts are the same bytes.

use std::collections::HashMap;

/// The groups of two or more equal parts as their indices, by their first. An absent part equals nothing.
pub(super) fn groups<'a>(parts: impl Iterator<Item = Option<&'a [u8]>>) -> Vec<Vec<usize>> {
    let mut by_part: HashMap<&[u8], usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, part) in parts.enumerate() {
        let Some(part) = part else { continue };
        let group = *by_part.entry(part).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(indices) => indices.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups.retain(|indices| indices.len() > 1);
    groups
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn equal_parts_are_grouped_and_absent_ones_are_not() {
        let parts = [Some("{}"), None, Some("1"), Some("{}"), None, Some("[]"), Some("1"), Some("{}")];
        let parts = parts.into_iter().map(|part| part.map(str::as_bytes));
        assert_eq!(groups(parts), [vec![0, 3, 7], vec![2, 6]]);
    }
}
