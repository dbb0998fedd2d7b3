//! The tape as the crate wants to see a JSON value: nothing is converted, and each look spends.
//!
//! Texts that are no UTF-8 (half of a surrogate pair) are exact where they are compared and counted; where
//! the crate needs a `str`, each half reads as U+FFFD. A dock refuses such a candidate by a guard of its own.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::RandomState;
use std::ops::ControlFlow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object};
use jsonschema_value::LazyInstance;

use super::meter::Meter;
use super::number::TapeNumber;
use crate::budget::{Budget, Exhausted};
use crate::json::{Document, Items, Kind, Members, Number, Text, Value, code_points, equal, hash, name_hash};

/// Steps for a value that is looked at.
const LOOK: u64 = 1;

/// The representation: a [`Document`] and its node numbers.
pub(super) struct Tape;

/// A value, or the name of a member as a string.
#[derive(Clone, Copy)]
pub(super) struct TapeNode<'a> {
    at: At<'a>,
    /// Bytes of the JSON Pointer to it, about: the crate writes one out for each error.
    path: u64,
}

#[derive(Clone, Copy)]
enum At<'a> {
    Tape(&'a Document, u32, &'a Meter<'a>),
    Text(&'a str),
}

impl<'a> TapeNode<'a> {
    /// The value to be checked.
    pub(super) fn root(value: Value<'a>, meter: &'a Meter<'a>) -> TapeNode<'a> {
        TapeNode { at: At::Tape(value.document(), value.node(), meter), path: 0 }
    }

    /// The value and its meter, unless that is spent or this is a text of the crate's own.
    fn look(&self) -> Option<(Value<'a>, &'a Meter<'a>)> {
        match self.at {
            At::Tape(document, node, meter) if meter.spend(LOOK) => Some((document.value_at(node), meter)),
            _ => None,
        }
    }

    fn kind(&self) -> Kind {
        match self.at {
            At::Text(_) => Kind::String,
            At::Tape(..) => self.look().map_or(Kind::Null, |(value, _)| value.kind()),
        }
    }

    /// The text of a string of the tape, in full, and the meter to match it on. The crate makes no texts of its
    /// own, since member names are nodes.
    pub(super) fn text(&self) -> Option<(Cow<'a, [u8]>, &'a Meter<'a>)> {
        let (value, meter) = self.look()?;
        let text = value.as_text()?;
        meter.read(text.raw().len()).then(|| (text.decode(), meter))
    }

    /// Counts an error at this value, with what else it holds.
    fn note_error(&self, held: u64) {
        if let At::Tape(_, _, meter) = self.at {
            meter.error(self.path, held);
        }
    }
}

impl Json for Tape {
    type Node<'a> = TapeNode<'a>;
    type PreparedKey = Key;
    type StringBuffer = String;

    // A look-up goes through the members, so one pass over them is no dearer than many.
    const KEYS_PER_LOOKUP: usize = 4;
    const ACYCLIC: bool = true;

    fn prepare_key(key: &str) -> Key {
        Key { name: key.into(), hash: name_hash(key.as_bytes()) }
    }

    fn with_string_node<T>(buffer: &mut String, string: &str, f: impl FnOnce(TapeNode<'_>) -> T) -> T {
        buffer.clear();
        buffer.push_str(string);
        f(TapeNode { at: At::Text(buffer), path: 0 })
    }
}

/// A member's name to look for.
pub(super) struct Key {
    name: Box<str>,
    hash: u16,
}

impl<'a> Node<'a, Tape> for TapeNode<'a> {
    type Object = TapeObject<'a>;
    type Array = TapeArray<'a>;
    type Number = TapeNumber<'a>;

    fn as_object(&self) -> Option<TapeObject<'a>> {
        let (value, meter) = self.look()?;
        (value.kind() == Kind::Object).then_some(TapeObject { value, meter, path: self.path })
    }

    fn as_array(&self) -> Option<TapeArray<'a>> {
        let (value, meter) = self.look()?;
        (value.kind() == Kind::Array).then_some(TapeArray { value, meter, path: self.path })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.at {
            At::Text(text) => Some(Cow::Borrowed(text)),
            At::Tape(..) => self.text().map(|(text, _)| readable(text)),
        }
    }

    fn as_number(&self) -> Option<TapeNumber<'a>> {
        let (value, meter) = self.look()?;
        let number = value.as_number()?;
        meter.read(number.lexeme().len()).then_some(TapeNumber(number))
    }

    fn as_boolean(&self) -> Option<bool> {
        self.look()?.0.as_bool()
    }

    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    fn is_number(&self) -> bool {
        self.kind() == Kind::Number
    }

    fn json_type(&self) -> JsonType {
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::Boolean => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn string_length(&self) -> Option<u64> {
        match self.at {
            At::Text(text) => Some(text.chars().count() as u64),
            At::Tape(..) => {
                let (value, meter) = self.look()?;
                let text = value.as_text()?;
                meter.read(text.raw().len()).then(|| text.count_code_points() as u64)
            }
        }
    }

    fn equals_value(&self, expected: &serde_json::Value) -> bool {
        match self.at {
            At::Text(text) => expected.as_str() == Some(text),
            At::Tape(..) => self.look().is_some_and(|(value, meter)| equals(value, expected, meter)),
        }
    }

    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        Cow::Owned(match self.at {
            At::Text(text) => text.into(),
            At::Tape(..) => self.look().map_or(serde_json::Value::Null, |(value, meter)| {
                self.note_error(64 * value.count_nodes());
                converted(value, meter)
            }),
        })
    }

    // Nothing here reads the instance of an error.
    fn lazy_value(&self) -> LazyInstance<'a> {
        self.note_error(0);
        LazyInstance::Ready(Cow::Owned(serde_json::Value::Null))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        match self.at {
            At::Tape(document, node, _) => {
                Some(NodeIdentity::tagged(std::ptr::from_ref(document) as usize, node))
            }
            At::Text(_) => None,
        }
    }
}

/// An object of the tape.
pub(super) struct TapeObject<'a> {
    value: Value<'a>,
    meter: &'a Meter<'a>,
    path: u64,
}

impl<'a> TapeObject<'a> {
    fn child(&self, name: Text<'a>, node: u32) -> TapeNode<'a> {
        let path = self.path + 1 + name.raw().len() as u64;
        TapeNode { at: At::Tape(self.value.document(), node, self.meter), path }
    }
}

impl<'a> Object<'a, Tape> for TapeObject<'a> {
    type Node = TapeNode<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = TapeMembers<'a>;

    fn len(&self) -> usize {
        self.value.len()
    }

    fn get(&self, key: &Key) -> Option<TapeNode<'a>> {
        let name = key.name.as_bytes();
        let steps = self.value.len() as u64 / 4 + name.len() as u64 / 16;
        if !(self.meter.visit() && self.meter.spend(steps)) {
            return None;
        }
        let found = self.value.members().find(|m| m.hash() == key.hash && m.name() == *name)?;
        Some(self.child(found.name(), found.value().node()))
    }

    fn members(&self) -> TapeMembers<'a> {
        TapeMembers {
            members: self.value.members(),
            object: TapeObject { value: self.value, meter: self.meter, path: self.path },
        }
    }

    fn try_for_each_name_node<B>(
        &self,
        _: &mut String,
        mut f: impl FnMut(TapeNode<'_>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for member in self.value.members() {
            if !self.meter.read_name(member.name().raw().len()) {
                break;
            }
            // The crate tells an error in a name as one of the object.
            let at = At::Tape(self.value.document(), member.name_node(), self.meter);
            f(TapeNode { at, path: self.path })?;
        }
        ControlFlow::Continue(())
    }
}

/// The members of an object, each name once.
pub(super) struct TapeMembers<'a> {
    members: Members<'a>,
    object: TapeObject<'a>,
}

impl<'a> Iterator for TapeMembers<'a> {
    type Item = (Cow<'a, str>, TapeNode<'a>);

    fn next(&mut self) -> Option<(Cow<'a, str>, TapeNode<'a>)> {
        let member = self.members.next()?;
        let (name, meter) = (member.name(), self.object.meter);
        if !(meter.visit() && meter.read_name(name.raw().len())) {
            return None;
        }
        Some((readable(name.decode()), self.object.child(name, member.value().node())))
    }
}

/// An array of the tape.
pub(super) struct TapeArray<'a> {
    value: Value<'a>,
    meter: &'a Meter<'a>,
    path: u64,
}

impl<'a> Array<'a, Tape> for TapeArray<'a> {
    type Node = TapeNode<'a>;
    type ElementsIter = TapeElements<'a>;

    fn len(&self) -> usize {
        self.value.len()
    }

    fn elements(&self) -> TapeElements<'a> {
        TapeElements { items: self.value.items(), meter: self.meter, path: self.path }
    }

    fn is_unique(&self) -> bool {
        self.meter.lend(|budget| is_unique(self.value, budget)).unwrap_or(true)
    }
}

/// The items of an array.
pub(super) struct TapeElements<'a> {
    items: Items<'a>,
    meter: &'a Meter<'a>,
    path: u64,
}

impl<'a> Iterator for TapeElements<'a> {
    type Item = TapeNode<'a>;

    fn next(&mut self) -> Option<TapeNode<'a>> {
        let item = self.items.next()?;
        let at = At::Tape(item.document(), item.node(), self.meter);
        self.meter.visit().then_some(TapeNode { at, path: self.path + 8 })
    }
}

/// The text as a `str`: as it is, or with U+FFFD for each half of a surrogate pair.
pub(super) fn readable(text: Cow<'_, [u8]>) -> Cow<'_, str> {
    let replaced = |text: &[u8]| {
        code_points(text).map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    match text {
        Cow::Borrowed(text) => {
            std::str::from_utf8(text).map_or_else(|_| Cow::Owned(replaced(text)), Cow::Borrowed)
        }
        Cow::Owned(text) => {
            Cow::Owned(String::from_utf8(text).unwrap_or_else(|error| replaced(error.as_bytes())))
        }
    }
}

/// Equality with a value of the schema. Its numbers are exact, so what they print is their value.
fn equals(value: Value<'_>, expected: &serde_json::Value, meter: &Meter<'_>) -> bool {
    use serde_json::Value as Expected;
    if !meter.spend(LOOK) {
        return false;
    }
    match (value.kind(), expected) {
        (Kind::Null, Expected::Null) => true,
        (Kind::Boolean, Expected::Bool(expected)) => value.as_bool() == Some(*expected),
        (Kind::Number, Expected::Number(expected)) => {
            let expected = expected.to_string();
            let Some((a, b)) = value.as_number().zip(Number::parse(expected.as_bytes())) else {
                return false;
            };
            meter.spend(a.compare_steps(b)) && a.compare(b).is_eq()
        }
        (Kind::String, Expected::String(expected)) => value.as_text().is_some_and(|text| {
            meter.read(text.raw().len().min(expected.len())) && text == *expected.as_bytes()
        }),
        (Kind::Array, Expected::Array(expected)) => {
            value.len() == expected.len()
                && value.items().zip(expected).all(|(item, expected)| equals(item, expected, meter))
        }
        (Kind::Object, Expected::Object(expected)) => {
            value.len() == expected.len()
                && expected.iter().all(|(name, expected)| {
                    meter.spend(value.len() as u64 / 4)
                        && value.get(name.as_bytes()).is_some_and(|value| equals(value, expected, meter))
                })
        }
        _ => false,
    }
}

/// Whether all items differ: by hash, since their number is the candidate's choice.
fn is_unique(array: Value<'_>, budget: &mut Budget<'_>) -> Result<bool, Exhausted> {
    let state = RandomState::new();
    let mut seen: HashMap<u64, Vec<Value<'_>>> = HashMap::new();
    for item in array.items() {
        let like = seen.entry(hash(item, &state, budget)?).or_default();
        for other in &*like {
            if equal(item, *other, budget)? {
                return Ok(false);
            }
        }
        like.push(item);
    }
    Ok(true)
}

/// The value as the crate's own tree. It asks for one only to word an error.
fn converted(value: Value<'_>, meter: &Meter<'_>) -> serde_json::Value {
    if !meter.visit() {
        return serde_json::Value::Null;
    }
    match value.kind() {
        Kind::Null => serde_json::Value::Null,
        Kind::Boolean => value.as_bool().into(),
        Kind::Number => value
            .as_number()
            .and_then(|number| super::number::exact(number))
            .map_or(serde_json::Value::Null, serde_json::Value::Number),
        Kind::String => value
            .as_text()
            .filter(|text| meter.read(text.raw().len()))
            .map_or(serde_json::Value::Null, |text| readable(text.decode()).into()),
        Kind::Array => value.items().map(|item| converted(item, meter)).collect(),
        Kind::Object => value
            .members()
            .map(|member| (readable(member.name().decode()).into_owned(), converted(member.value(), meter)))
            .collect(),
    }
}
