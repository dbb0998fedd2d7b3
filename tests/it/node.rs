//! Scripts in Node that answer a line with a line: other implementations to compare with.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use std::path::{Path, PathBuf};

/// A script under way. It is given all its lines at once, by a thread of its own.
pub(crate) struct Script {
    child: Child,
    answers: std::io::Lines<BufReader<ChildStdout>>,
    writer: JoinHandle<()>,
}

/// A script of this repository that has been given `lines`; none, said plainly, where there is no Node.
pub(crate) fn ask(script: &str, lines: Vec<u8>) -> Option<Script> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let child = Command::new("node")
        .arg(path)
        .env("DOCK_TEST_NODE_MODULES", modules())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: no node");
        return None;
    };
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(&lines).expect("a script that reads its lines"));
    let answers = BufReader::new(child.stdout.take().unwrap()).lines();
    Some(Script { child, answers, writer })
}

impl Script {
    /// The next answer.
    pub(crate) fn answer(&mut self) -> String {
        self.answers.next().expect("an answer to each line").unwrap()
    }

    /// Waits for the end; there is no answer left.
    pub(crate) fn end(mut self) {
        self.writer.join().unwrap();
        assert!(self.answers.next().is_none());
        assert!(self.child.wait().unwrap().success());
    }
}

pub(crate) fn modules() -> PathBuf {
    let standard = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/node/node_modules");
    std::env::var_os("DOCK_TEST_NODE_MODULES").map_or_else(standard, PathBuf::from)
}

/// Whether gpt-tokenizer is where scripts look for it; says so plainly if not.
pub(crate) fn has_tokenizer() -> bool {
    let has = modules().join("gpt-tokenizer/package.json").exists();
    if !has {
        println!("skipped: no gpt-tokenizer in {} (`.ci/run` installs it)", modules().display());
    }
    has
}
