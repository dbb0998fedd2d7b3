//! `rate_limit` of a dock or a service.

use super::RateLimit;
use super::dock::missing;
use super::keys::{RATE_LIMIT, RATES};
use super::read::{At, Read, Section, Walk, shown};
use std::num::NonZeroU32;

/// The limit; `default` where the file says nothing.
pub(super) fn read<'a>(
    walk: &mut Walk<'a>,
    section: &Section<'a>,
    default: Option<RateLimit>,
) -> Read<Option<RateLimit>> {
    const KEY: &str = "rate_limit";
    if !section.has(KEY) {
        return Ok(default);
    }
    if let Some(At { line, value }) = walk.text_if_text(section, KEY) {
        if value == "off" {
            return Ok(None);
        }
        let what = format!(
            "is \"{}\"; write rate_limit = {{ per_second = 200, burst = 400 }} or rate_limit = \"off\"",
            shown(value)
        );
        return Err(walk.report(Some(line), section.path(KEY), what));
    }
    let Some(table) = walk.section(section, KEY, &RATE_LIMIT)? else { return Ok(None) };
    let rates = RATES.each_ref().map(|bound| match walk.number(&table, bound)? {
        Some(At { value, .. }) => Ok(value),
        None => Err(missing(walk, &table, bound.key, "a rate_limit has both per_second and burst")),
    });
    let [per_second, burst] = rates;
    Ok(Some(limit(per_second?, burst?)))
}

/// A limit whose numbers have been checked.
pub(super) fn limit(per_second: u64, burst: u64) -> RateLimit {
    let rate = |value| u32::try_from(value).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
    RateLimit { per_second: rate(per_second), burst: rate(burst) }
}
