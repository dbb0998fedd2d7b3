//! Where the references of a schema lead, as far as they stay in its document. Rather one target too many than
//! one too few: this is to find circles and costs. What each leads to exactly is the crate's business.

use std::collections::HashMap;

use serde_json::Value as Tree;

/// The places that references can name.
pub(super) struct References<'s> {
    root: &'s Tree,
    /// By `$anchor`, `$dynamicAnchor`, or an `$id` that is a fragment.
    anchors: HashMap<&'s str, Vec<&'s Tree>>,
    /// By the last step of their `$id`.
    resources: HashMap<&'s str, Vec<&'s Tree>>,
    /// The innermost resource around each value that begins none itself.
    around: HashMap<*const Tree, &'s Tree>,
    /// Those with `$recursiveAnchor`.
    recursive: Vec<&'s Tree>,
}

impl<'s> References<'s> {
    pub(super) fn new(root: &'s Tree) -> References<'s> {
        let mut references = References {
            root,
            anchors: HashMap::new(),
            resources: HashMap::new(),
            around: HashMap::new(),
            recursive: Vec::new(),
        };
        references.collect(root, root);
        references
    }

    fn collect(&mut self, value: &'s Tree, around: &'s Tree) {
        let mut inner = around;
        if let Tree::Object(members) = value {
            let text = |name: &str| members.get(name).and_then(Tree::as_str);
            for id in ["$id", "id"].into_iter().filter_map(text) {
                match id.strip_prefix('#') {
                    Some(anchor) => self.anchors.entry(anchor).or_default().push(value),
                    None => {
                        inner = value;
                        self.resources.entry(last_step(id)).or_default().push(value);
                    }
                }
            }
            for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
                self.anchors.entry(anchor).or_default().push(value);
            }
            if members.get("$recursiveAnchor") == Some(&Tree::Bool(true)) {
                self.recursive.push(value);
            }
            members.values().for_each(|value| self.collect(value, inner));
        } else if let Tree::Array(items) = value {
            items.iter().for_each(|value| self.collect(value, inner));
        }
        self.around.insert(value, inner);
    }

    /// The resource that a schema belongs to.
    pub(super) fn resource(&self, schema: &'s Tree, otherwise: &'s Tree) -> &'s Tree {
        self.around.get(&std::ptr::from_ref(schema)).copied().unwrap_or(otherwise)
    }

    /// What the references of a schema may lead to, and whether one leads to nothing here: to a meta-schema, or the
    /// crate will refuse it.
    pub(super) fn of(&self, schema: &'s Tree, resource: &'s Tree) -> (Vec<&'s Tree>, bool) {
        let text = |name: &str| schema.get(name).and_then(Tree::as_str);
        let mut targets = Vec::new();
        let mut outside = false;
        for reference in ["$ref", "$dynamicRef"].into_iter().filter_map(text) {
            let before = targets.len();
            self.resolve(reference, resource, &mut targets);
            outside |= targets.len() == before;
        }
        if text("$recursiveRef").is_some() {
            targets.push(resource);
            targets.extend(&self.recursive);
        }
        targets.sort_by_key(|target| std::ptr::from_ref(*target));
        targets.dedup_by_key(|target| std::ptr::from_ref(*target));
        (targets, outside)
    }

    fn resolve(&self, reference: &str, resource: &'s Tree, targets: &mut Vec<&'s Tree>) {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let bases: Vec<&Tree> = if uri.is_empty() {
            vec![resource, self.root]
        } else {
            self.resources.get(last_step(uri)).cloned().unwrap_or_default()
        };
        let fragment = percent_decoded(fragment);
        if fragment.is_empty() {
            let bases = if uri.is_empty() { bases.get(..1).unwrap_or_default() } else { &bases };
            targets.extend(bases);
        } else if fragment.starts_with('/') {
            let mut found = bases.iter().filter_map(|base| base.pointer(&fragment));
            if uri.is_empty() { targets.extend(found.next()) } else { targets.extend(found) }
        } else {
            targets.extend(self.anchors.get(fragment.as_str()).into_iter().flatten());
        }
    }
}

fn last_step(uri: &str) -> &str {
    let uri = uri.strip_suffix('#').unwrap_or(uri);
    uri.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(uri)
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes().iter();
    while let Some(byte) = bytes.next() {
        let hex = (*byte == b'%').then(|| bytes.as_slice().get(..2)).flatten();
        let decoded = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        if decoded.is_some() {
            bytes.nth(1);
        }
        out.push(decoded.unwrap_or(*byte));
    }
    String::from_utf8_lossy(&out).into_owned()
}
