//! The classes of characters that pieces are made of: `\p{L}`, `\p{N}`, `\s` of ECMAScript with the tables of
//! Unicode 17, as the Node has them that the criteria's tokenizer is compared with.

use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

/// What the pattern of `cl100k_base` tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Letter,
    Number,
    /// `\r` or `\n`.
    Newline,
    /// `\s` but for newlines.
    Space,
    Other,
}

const ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut byte = 0_u8;
    while byte < 128 {
        #[allow(clippy::indexing_slicing, reason = "evaluated while compiling")]
        {
            classes[byte as usize] = match byte {
                b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
                b'0'..=b'9' => Class::Number,
                b'\r' | b'\n' => Class::Newline,
                b' ' | b'\t' | 0x0B | 0x0C => Class::Space,
                _ => Class::Other,
            };
        }
        byte += 1;
    }
    classes
};

/// The class of the character at `at` and its length in bytes; none at the end.
#[inline]
pub(super) fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    match class_of_ascii(*text.as_bytes().get(at)?) {
        Some(class) => Some((class, 1)),
        None => beyond_ascii(text, at),
    }
}

/// The class of a character that is one byte; none for a part of a longer one.
#[inline]
pub(super) fn class_of_ascii(byte: u8) -> Option<Class> {
    ASCII.get(usize::from(byte)).copied()
}

fn beyond_ascii(text: &str, at: usize) -> Option<(Class, usize)> {
    let character = text.get(at..)?.chars().next()?;
    Some((class_of(character), character.len_utf8()))
}

fn class_of(character: char) -> Class {
    // ECMAScript's white space has U+FEFF, and U+0085 is a control character to it.
    match character {
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}' => {
            return Class::Space;
        }
        '\u{3000}' | '\u{feff}' => return Class::Space,
        _ => {}
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(character);
    if GeneralCategoryGroup::Letter.contains(category) {
        Class::Letter
    } else if GeneralCategoryGroup::Number.contains(category) {
        Class::Number
    } else {
        Class::Other
    }
}
