//! Tokens are counted as tiktoken-rs counts them, wherever the rules of the two agree: in ASCII.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use millwork_dock::budget::Budget;
use millwork_dock::profile::tokens::Tokenizer;

static TIKTOKEN: LazyLock<tiktoken_rs::CoreBPE> = LazyLock::new(|| tiktoken_rs::cl100k_base().unwrap());

fuzz_target!(|bytes: &[u8]| {
    let text: String = bytes.iter().map(|byte| char::from(byte & 0x7F)).collect();
    let mut counter = Tokenizer::shared().unwrap().counter();
    let own = counter.count(&text, &mut Budget::of_steps(u64::MAX)).unwrap();
    assert_eq!(own, TIKTOKEN.encode_ordinary(&text).len() as u64, "{text:?}");
    // Once more, from what has been met.
    assert_eq!(counter.count(&text, &mut Budget::of_steps(u64::MAX)), Ok(own));
});
