//! Noticing that a file changed: by reading it again, since that works through links and mounted secrets too,
//! where notifications of the file system do not.

use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often to ask [`Watched::changed`]: a little under 2 s, so that what is new holds 2 s later at most.
pub const EVERY: Duration = Duration::from_millis(1900);

/// One file under watch.
///
/// It remembers a digest of the bytes and not the bytes: some watched files hold keys, which should not lie
/// about in memory.
#[derive(Debug)]
pub struct Watched {
    path: PathBuf,
    max_bytes: u64,
    last: Last,
}

#[derive(Debug, PartialEq, Eq)]
enum Last {
    NeverRead,
    Digest([u8; 32]),
    Failed(io::ErrorKind),
}

impl Watched {
    /// A watch over the file at `path`, which must not hold more than `max_bytes`. Nothing is read yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, max_bytes: u64) -> Watched {
        Watched { path: path.into(), max_bytes, last: Last::NeverRead }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file: its bytes if they differ from those of the last time, `None` if nothing is new. The
    /// first call always has news, and so has the first call that succeeds after one that failed.
    ///
    /// Blocks on the file system: call it where blocking is fine.
    ///
    /// # Errors
    /// What [`read_bounded`] says, once: as long as it goes on failing in the same way, there is no news.
    pub fn changed(&mut self) -> io::Result<Option<Vec<u8>>> {
        let (now, news) = match read_bounded(&self.path, self.max_bytes) {
            Ok(bytes) => (Last::Digest(Sha256::digest(&bytes).into()), Ok(Some(bytes))),
            Err(error) => (Last::Failed(error.kind()), Err(error)),
        };
        if now == self.last {
            return Ok(None);
        }
        self.last = now;
        news
    }
}

/// Reads a regular file (links are followed) of at most `max_bytes`.
///
/// # Errors
/// The file cannot be read, is no regular file (a pipe would block for ever), or is too long.
pub fn read_bounded(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("over {max_bytes} bytes")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn news(watched: &mut Watched) -> Result<Option<String>, io::ErrorKind> {
        watched
            .changed()
            .map(|bytes| bytes.map(|bytes| String::from_utf8(bytes).unwrap()))
            .map_err(|error| error.kind())
    }

    #[test]
    fn tells_each_content_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        fs::write(&path, "one").unwrap();
        let mut watched = Watched::new(&path, 100);
        assert_eq!(news(&mut watched), Ok(Some("one".into())));
        assert_eq!(news(&mut watched), Ok(None));
        fs::write(&path, "one").unwrap();
        assert_eq!(news(&mut watched), Ok(None), "written again, but the same");
        fs::write(&path, "two").unwrap();
        assert_eq!(news(&mut watched), Ok(Some("two".into())), "same length and perhaps the same time stamp");
    }

    #[test]
    fn tells_a_failure_once_and_the_recovery_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("keys");
        let mut watched = Watched::new(&path, 5);
        assert_eq!(news(&mut watched), Err(io::ErrorKind::NotFound));
        assert_eq!(news(&mut watched), Ok(None));
        fs::write(&path, "12345").unwrap();
        assert_eq!(news(&mut watched), Ok(Some("12345".into())), "exactly as long as may be");
        fs::write(&path, "123456").unwrap();
        assert_eq!(news(&mut watched), Err(io::ErrorKind::FileTooLarge));
        fs::remove_file(&path).unwrap();
        assert_eq!(news(&mut watched), Err(io::ErrorKind::NotFound), "failing in another way is news");
        fs::write(&path, "12345").unwrap();
        assert_eq!(news(&mut watched), Ok(Some("12345".into())), "back with the bytes of before");
    }

    #[cfg(unix)]
    #[test]
    fn follows_a_link_that_is_swapped() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for version in ["a", "b"] {
            fs::create_dir(at(version)).unwrap();
            fs::write(at(version).join("keys"), version).unwrap();
        }
        // As Kubernetes mounts a secret: keys → ..data/keys, ..data → a version's directory, swapped by rename.
        let link = |to: &str, from: &str| std::os::unix::fs::symlink(to, at(from)).unwrap();
        link("a", "..data");
        link("..data/keys", "keys");
        let mut watched = Watched::new(at("keys"), 100);
        assert_eq!(news(&mut watched), Ok(Some("a".into())));
        link("b", "..new");
        fs::rename(at("..new"), at("..data")).unwrap();
        assert_eq!(news(&mut watched), Ok(Some("b".into())));
    }

    #[test]
    fn refuses_what_is_no_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_bounded(dir.path(), 100).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        #[cfg(target_os = "linux")]
        assert_eq!(
            read_bounded(Path::new("/dev/zero"), 100).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }
}
