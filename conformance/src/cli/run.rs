//! `run`: all cases, and the reports.

use std::path::{Path, PathBuf};

use super::target::TargetArgs;
use super::{Exit, World, runtime, tell_progress};
use crate::case::Labelled;
use crate::contract::Timing;
use crate::report::Report;
use crate::run::{self, Plan};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Files of labelled cases, JSON
    #[arg(long, value_name = "FILE", num_args = 1..)]
    cases: Vec<PathBuf>,
    /// Fail on recommended cases too
    #[arg(long)]
    strict: bool,
    /// Write the report as JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Write a JUnit report as well
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the report as a page as well
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(super) fn run(args: &Args, world: &mut World<'_>) -> Result<Exit, String> {
    let labelled = labelled(&args.cases)?;
    let runtime = runtime()?;
    let report = runtime.block_on(async {
        let target = args.target.open(world.variable).await?;
        let plan = Plan {
            client: target.client,
            access: args.target.access,
            keys: target.keys,
            labelled,
            version: target.version,
            timing: Timing::CONTRACT,
        };
        let findings = run::run(&plan, &tell_progress).await;
        Ok::<_, String>((Report::new(&plan, findings, args.strict, target.own_authorities), plan.keys))
    });
    let (report, keys) = report?;
    let written = if args.json { report.json(&keys) } else { report.table(&keys) };
    world.put(&written.map_err(|leak| leak.to_string())?)?;
    if let Some(file) = &args.junit {
        write(file, &report.junit(&keys).map_err(|leak| leak.to_string())?)?;
    }
    if let Some(file) = &args.html {
        write(file, &report.html(&keys).map_err(|leak| leak.to_string())?)?;
    }
    Ok(if report.passed() { Exit::Fine } else { Exit::Failed })
}

fn labelled(files: &[PathBuf]) -> Result<Vec<Labelled>, String> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let mut read = Vec::new();
    for file in files {
        let bytes = std::fs::read(file).map_err(|error| format!("cannot read a file of --cases: {error}"))?;
        read.push((file.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes));
    }
    Labelled::read_all(&read).map_err(|trouble| trouble.to_string())
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    std::fs::write(file, text).map_err(|error| format!("cannot write a report to its file: {error}"))
}
