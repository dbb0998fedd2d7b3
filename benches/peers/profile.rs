//! The split profile's engines against their peers, in one run: counting tokens, `JSON.stringify`, and how the time
//! for one long piece grows with it. `cargo bench --bench profile`; read the ratios, not the times.
//!
//! Peers: tiktoken-rs, and Node with gpt-tokenizer where they are there. Catalogues are those of `DOCK_TEST_DATA`.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a benchmark stops at the first surprise"
)]

use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use millwork_dock::budget::Budget;
use millwork_dock::json::{Document, write_ecma, write_value};
use millwork_dock::profile::tokens::Tokenizer;

/// Texts are cut into documents of so many bytes, each counted as if nothing had been counted before.
const DOCUMENT: usize = 128 * 1024;
const MOST: usize = 256 * 1024;

fn main() {
    let start = Instant::now();
    let tokenizer = Tokenizer::shared().unwrap();
    println!("tokenizer made in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let texts = catalogues();
    if texts.is_empty() {
        println!("skipped: no catalogues in DOCK_TEST_DATA");
    } else {
        against_peers(tokenizer, &texts);
    }
    long_pieces(tokenizer);
}

fn count(tokenizer: &Tokenizer, text: &str) -> u64 {
    tokenizer.counter().count(text, &mut Budget::of_steps(u64::MAX)).unwrap()
}

fn against_peers(tokenizer: &Tokenizer, texts: &[String]) {
    let documents: Vec<&str> = texts.iter().flat_map(|text| documents(text)).collect();
    let bytes: usize = documents.iter().map(|text| text.len()).sum();
    println!(
        "\n{} catalogues, {} documents, {bytes} bytes; MB a second, median of 5",
        texts.len(),
        documents.len()
    );
    let tiktoken = tiktoken_rs::cl100k_base().unwrap();
    let own = speed(bytes, || documents.iter().map(|text| count(tokenizer, text)).sum());
    let rust =
        speed(bytes, || documents.iter().map(|text| tiktoken.encode_ordinary(text).len() as u64).sum());
    println!("  count      own {own:7.1}   tiktoken-rs {rust:6.1}   {:5.1} x", own / rust);
    let bytes: usize = texts.iter().map(String::len).sum();
    let stringify = speed(bytes, || {
        let mut out = Vec::new();
        for text in texts {
            out.clear();
            write_ecma(Document::parse(text.as_bytes().to_vec()).unwrap().root(), &mut out);
            black_box(&out);
        }
        0
    });
    let Some(node) = node(texts) else { return println!("  skipped: no node") };
    println!("  stringify  own {stringify:7.1}   node        {:6.1}   {:5.1} x", node.0, stringify / node.0);
    match node.1 {
        Some(count) => {
            println!("  count      own {own:7.1}   gpt-tokenizer {count:4.1}   {:5.1} x", own / count);
        }
        None => println!("  skipped: no gpt-tokenizer in target/node/node_modules"),
    }
}

/// One text in documents that end at a character.
fn documents(text: &str) -> Vec<&str> {
    let (mut rest, mut documents) = (text, Vec::new());
    while !rest.is_empty() {
        let mut end = rest.len().min(DOCUMENT);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (first, others) = rest.split_at(end);
        documents.push(first);
        rest = others;
    }
    documents
}

fn speed(bytes: usize, work: impl Fn() -> u64) -> f64 {
    black_box(work());
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    bytes as f64 / 1e6 / times[2]
}

/// What Node does: stringify, and count.
fn node(texts: &[String]) -> Option<(f64, Option<f64>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut child = Command::new("node")
        .arg(root.join("benches/peers/profile.mjs"))
        .arg(root.join("target/node/node_modules"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let lines: String =
        texts.iter().map(|text| serde_json::Value::from(text.as_str()).to_string() + "\n").collect();
    child.stdin.take()?.write_all(lines.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
    Some((result["stringify"].as_f64()?, result["count"].as_f64()))
}

/// Every JSON file of the data, written without white space as a catalogue travels.
fn catalogues() -> Vec<String> {
    let root =
        std::env::var_os("DOCK_TEST_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let mut files = Vec::new();
    collect(&root.join("mcp"), &mut files);
    files.sort();
    let documents = files.iter().filter_map(|file| Document::parse(fs::read(file).ok()?).ok());
    documents
        .map(|document| {
            let mut out = Vec::new();
            write_value(document.root(), &mut out);
            String::from_utf8(out).unwrap()
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

fn long_pieces(tokenizer: &Tokenizer) {
    let mut state = 12_345_u64;
    let mut random = move |end: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % end
    };
    // Characters from a range, each drawn anew.
    let mut of = |first: char, count: u64| -> String {
        let mut text = String::new();
        while text.len() < MOST {
            let code = u32::from(first) + u32::try_from(random(count)).unwrap();
            text.push(char::from_u32(code).unwrap());
        }
        text
    };
    let texts = [
        ("one letter", of('a', 1)),
        ("spaces", of(' ', 1)),
        ("random letters", of('a', 26)),
        ("CJK", of('\u{4e00}', 20_000)),
        ("emoji", of('\u{1f300}', 700)),
        ("one slash", of('/', 1)),
        ("random punctuation", of('!', 15)),
        ("newlines", of('\n', 1)),
    ];
    println!("\none piece of so many KiB, ms, best of 5");
    println!("  {:18}{:>8}{:>8}{:>8}{:>8}{:>8}   256 : 16", "", 16, 32, 64, 128, 256);
    for (name, text) in &texts {
        let times = [16, 32, 64, 128, 256].map(|kib| {
            let mut end = (kib * 1024).min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let text = &text[..end];
            let time = || {
                let start = Instant::now();
                black_box(count(tokenizer, black_box(text)));
                start.elapsed().as_secs_f64() * 1e3
            };
            (0..5).map(|_| time()).fold(f64::MAX, f64::min)
        });
        print!("  {name:18}");
        for ms in times {
            print!("{ms:8.2}");
        }
        println!("   {:6.1} x", times[4] / times[0]);
    }
}
