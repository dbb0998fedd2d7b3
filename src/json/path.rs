//! Paths: `$`, `.key`, `[i]`, and `["…"]` for a name that would not read back (decision B15).

use super::text::code_points;
use super::write_string;

/// Appends the step to an item.
pub fn write_item_step(index: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("[{index}]").as_bytes());
}

/// Appends the step to a member, given its decoded name: `.key`, or `["…"]` where the name is empty or holds
/// `. [ ] " \`, white space or a control character.
pub fn write_name_step(name: &[u8], out: &mut Vec<u8>) {
    let is_special = |code: u32| match char::from_u32(code) {
        Some(c) => {
            matches!(c, '.' | '[' | ']' | '"' | '\\' | '\u{feff}') || c.is_whitespace() || c.is_control()
        }
        None => true,
    };
    if name.is_empty() || code_points(name).any(is_special) {
        out.push(b'[');
        write_string(name, out);
        out.push(b']');
    } else {
        out.push(b'.');
        out.extend_from_slice(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_names_that_would_not_read_back() {
        let step = |name: &str| {
            let mut out = Vec::new();
            write_name_step(name.as_bytes(), &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        assert_eq!(step("__proto__"), ".__proto__");
        assert_eq!(step("größe"), ".größe");
        assert_eq!(step("$arguments_text"), ".$arguments_text");
        assert_eq!(step(""), r#"[""]"#);
        assert_eq!(step("a.b"), r#"["a.b"]"#);
        assert_eq!(step("a b"), r#"["a b"]"#);
        assert_eq!(step("a\"]\n"), r#"["a\"]\n"]"#);
        assert_eq!(step("a\u{a0}b"), "[\"a\u{a0}b\"]");
    }
}
