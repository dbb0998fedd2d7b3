//! The third-party test data: read through `DOCK_TEST_DATA`, never copied into the project.

use std::path::PathBuf;

/// The folder or file `below` the test data; none, said plainly, where the data is absent.
pub(crate) fn path(below: &str) -> Option<PathBuf> {
    let root =
        std::env::var_os("DOCK_TEST_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let path = root.join(below);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: no test data at {} (set DOCK_TEST_DATA)", path.display());
    None
}
