//! `replay`: real candidates, and what their receipts would show.

use std::path::PathBuf;

use super::target::TargetArgs;
use super::{Exit, World, runtime, tell_progress};
use crate::replay::{self, Receipt};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// One candidate a line, as JSON: what stands behind `"candidate":`
    #[arg(long, value_name = "FILE")]
    candidates: PathBuf,
    /// Write all receipts as JSON instead of lines
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, world: &mut World<'_>) -> Result<Exit, String> {
    let text = std::fs::read(&args.candidates)
        .map_err(|error| format!("cannot read the file of --candidates: {error}"))?;
    let candidates = replay::candidates(&text).map_err(|trouble| trouble.to_string())?;
    runtime()?.block_on(async {
        let target = args.target.open(world.variable).await?;
        let all = candidates.len();
        let mut receipts: Vec<Receipt> = Vec::with_capacity(all);
        for (n, (line, body)) in candidates.into_iter().enumerate() {
            let receipt = replay::send(&target.client, &target.keys, target.version, line, body).await;
            if !args.json {
                tell_progress(all, all, "");
                world.put(&format!("{}\n", replay::line(&receipt)))?;
            }
            receipts.push(receipt);
            tell_progress(n + 1, all, "candidates");
        }
        tell_progress(all, all, "");
        let end = if args.json { replay::document(&receipts) } else { replay::summary(&receipts) };
        world.put(&end)?;
        let all_judged = receipts.iter().all(|receipt| receipt.result.is_ok());
        Ok(if all_judged { Exit::Fine } else { Exit::Failed })
    })
}
