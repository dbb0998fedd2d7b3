//! A body and how it is cut: the pieces become chunks of HTTP/1.1 or DATA frames of HTTP/2, one each.

use std::time::Duration;

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Waited for before it is sent.
    pub wait: Duration,
    /// What is sent; never empty.
    pub bytes: Vec<u8>,
}

/// A body in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
    /// The end of the body is sent too.
    pub ends: bool,
}

impl Body {
    /// In one piece.
    #[must_use]
    pub fn whole(bytes: Vec<u8>) -> Body {
        Body::from_parts(vec![bytes])
    }

    /// Cut before each of these offsets, which ascend.
    #[must_use]
    pub fn cut(bytes: &[u8], offsets: &[usize]) -> Body {
        let mut parts = Vec::new();
        let (mut rest, mut gone) = (bytes, 0);
        for offset in offsets {
            let (part, after) = rest.split_at(offset.saturating_sub(gone).min(rest.len()));
            gone += part.len();
            parts.push(part.to_vec());
            rest = after;
        }
        parts.push(rest.to_vec());
        Body::from_parts(parts)
    }

    /// In pieces of `size` bytes.
    #[must_use]
    pub fn in_pieces_of(bytes: &[u8], size: usize) -> Body {
        Body::from_parts(bytes.chunks(size.max(1)).map(<[u8]>::to_vec).collect())
    }

    /// In `count` pieces, spread over `time`.
    #[must_use]
    pub fn slow(bytes: &[u8], count: usize, time: Duration) -> Body {
        let mut body = Body::in_pieces_of(bytes, bytes.len().div_ceil(count.max(1)));
        let gaps = u32::try_from(body.pieces.len().saturating_sub(1)).unwrap_or(u32::MAX).max(1);
        for piece in body.pieces.iter_mut().skip(1) {
            piece.wait = time / gaps;
        }
        body
    }

    /// The same without its end: the endpoint waits for more.
    #[must_use]
    pub fn without_end(mut self) -> Body {
        self.ends = false;
        self
    }

    fn from_parts(parts: Vec<Vec<u8>>) -> Body {
        let parts = parts.into_iter().filter(|bytes| !bytes.is_empty());
        Body { pieces: parts.map(|bytes| Piece { wait: Duration::ZERO, bytes }).collect(), ends: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(body: &Body) -> Vec<&str> {
        body.pieces.iter().filter_map(|piece| std::str::from_utf8(&piece.bytes).ok()).collect()
    }

    #[test]
    fn bodies_are_cut_where_they_are_told() {
        assert_eq!(parts(&Body::cut(b"abcdefgh", &[2, 5])), ["ab", "cde", "fgh"]);
        assert_eq!(parts(&Body::cut(b"abc", &[5, 20])), ["abc"]);
        assert_eq!(parts(&Body::in_pieces_of(b"abc", 1)), ["a", "b", "c"]);
        assert_eq!(parts(&Body::whole(Vec::new())), [""; 0]);
        let slow = Body::slow(b"abcdef", 3, Duration::from_secs(2));
        assert_eq!(parts(&slow), ["ab", "cd", "ef"]);
        assert_eq!(slow.pieces.iter().map(|piece| piece.wait).sum::<Duration>(), Duration::from_secs(2));
    }
}
