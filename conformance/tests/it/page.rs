//! The page, seen by a browser: at a phone's width, in light and dark.

use std::path::{Path, PathBuf};
use std::process::Command;

use dock_conformance::broken::{Fault, Stage};
use dock_conformance::report::Report;
use dock_conformance::run;

use crate::support::{TIMING, plan, start};

/// The width of a small phone, in CSS pixels.
const PHONE: usize = 360;

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome", "chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
}

/// A report with findings of both weights, advice or not, and long names.
async fn page() -> String {
    let dock = start(Fault::ObjectsOnly, Stage::Public, TIMING).await;
    let plan = plan(&dock, Stage::Public, TIMING);
    let findings = run::run(&plan, &|_, _, _| {}).await;
    Report::new(&plan, findings, false, false).html(&plan.keys).expect("no key")
}

/// What the page measures at a phone's width: itself within a frame, and a script that writes into the title.
fn measuring(page: &str) -> String {
    // Without its policy the page could be measured no better, but the frame's script could not run.
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!doctype html><meta charset=utf-8><title>waiting</title>\
         <iframe id=f width={PHONE} height=800 style=\"border:0\" srcdoc=\"{quoted}\"></iframe><script>\
         addEventListener('load', () => {{ const d = document.getElementById('f').contentDocument; \
         const top = (e) => e.getBoundingClientRect().top; const heads = [...d.querySelectorAll('h2')]; \
         document.title = [d.documentElement.scrollWidth, d.defaultView.getComputedStyle(d.body).backgroundColor, \
         d.defaultView.getComputedStyle(d.body).color, heads.every((h, i) => i === 0 || top(heads[i - 1]) < top(h)), \
         heads[0].textContent, Math.max(...[...d.querySelectorAll('.bar')].map((b) => b.getBoundingClientRect().width)) > 20, \
         d.querySelectorAll('article').length].join('|'); }});</script>"
    )
}

fn chromium(browser: &str, folder: &Path, scheme: &str, args: &[String]) -> std::process::Output {
    let mut command = Command::new(browser);
    // 0 is dark, 1 is light. A test runs as root in a container, where the sandbox cannot.
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=3000",
    ]);
    command.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command.args(args).output().expect("the browser")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_whole_by_itself_and_fits_a_phone_in_light_and_dark() {
    let page = page().await;
    for outside in ["src=", "href=", "url(", "@import", "<script", "http-equiv=\"refresh\""] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    let Some(browser) = browser() else {
        eprintln!("skipped: there is no Chromium, so nobody saw the page");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
        format!("file://{}", folder.path().join(name).display())
    };
    let measured = write("measured.html", &measuring(&page));
    let mut grounds = Vec::new();
    for scheme in ["0", "1"] {
        let output = chromium(browser, folder.path(), scheme, &["--dump-dom".to_owned(), measured.clone()]);
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
        let title = title.unwrap_or_else(|| panic!("no title: {}", String::from_utf8_lossy(&output.stderr)));
        let facts: Vec<&str> = title.split('|').collect();
        let [width, ground, ink, in_order, first, bars, articles] = facts[..] else { panic!("{title}") };
        assert!(width.parse::<usize>().expect("a width") <= PHONE, "wider than a phone: {width}");
        assert_eq!((in_order, first, bars), ("true", "Findings", "true"));
        assert!(articles.parse::<usize>().expect("a number") >= 10, "{articles}");
        assert!((luminance(ground) - luminance(ink)).abs() > 500, "{ground} on {ink}");
        grounds.push(luminance(ground));
    }
    assert!(grounds[0] < 200 && grounds[1] > 600, "dark and light: {grounds:?}");
    picture(browser, folder.path(), &write("report.html", &page));
}

/// The sum of the channels of `rgb(r, g, b)`.
fn luminance(color: &str) -> i32 {
    let digits = color.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    digits.take(3).map(|part| part.parse::<i32>().expect("a channel")).sum()
}

/// A picture to look at, where `PAGE_PICTURES` names a folder; it has to be one in any case.
fn picture(browser: &str, folder: &Path, url: &str) {
    for (scheme, name) in [("0", "dark.png"), ("1", "light.png")] {
        let keep = std::env::var_os("PAGE_PICTURES").map_or_else(|| folder.to_owned(), PathBuf::from);
        let file = keep.join(name);
        let args =
            ["--window-size=500,2400".to_owned(), format!("--screenshot={}", file.display()), url.to_owned()];
        chromium(browser, folder, scheme, &args);
        let bytes = std::fs::read(&file).expect("a picture");
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 20_000, "{} bytes", bytes.len());
    }
}
