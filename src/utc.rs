//! Points in time as text: RFC 3339 in UTC, always of the same width.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use time::{Date, Month, OffsetDateTime, Time};

/// A point in time, displayed as `2026-11-30T15:04:05Z`; with `{:#}` as `2026-11-30T15:04:05.678Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Utc {
    seconds: u64,
    millis: u32,
}

impl Utc {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Utc { seconds: since.as_secs(), millis: since.subsec_millis() }
    }

    /// The point so many milliseconds after 1970.
    #[must_use]
    pub fn from_unix_millis(millis: u64) -> Self {
        Utc { seconds: millis / 1000, millis: u32::try_from(millis % 1000).unwrap_or(0) }
    }

    /// Milliseconds after 1970.
    #[must_use]
    pub fn unix_millis(self) -> u64 {
        self.seconds.saturating_mul(1000).saturating_add(u64::from(self.millis))
    }

    /// The UTC day, as `2026-11-30`.
    #[must_use]
    pub fn day(self) -> String {
        self.to_string().get(..10).unwrap_or_default().to_owned()
    }

    /// Seconds after 1970.
    #[must_use]
    pub fn unix(self) -> u64 {
        self.seconds
    }

    /// The start of a date's second; `None` if the calendar has none such, or it is before 1970.
    #[must_use]
    pub fn from_civil(date: (i32, u8, u8), time: (u8, u8, u8)) -> Option<Self> {
        let month = Month::try_from(date.1).ok()?;
        let date = Date::from_calendar_date(date.0, month, date.2).ok()?;
        let time = Time::from_hms(time.0, time.1, time.2).ok()?;
        let seconds = date.with_time(time).assume_utc().unix_timestamp();
        Some(Utc { seconds: u64::try_from(seconds).ok()?, millis: 0 })
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.seconds).map_err(|_| fmt::Error)?;
        let civil = OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| fmt::Error)?;
        let (year, month, day) = civil.to_calendar_date();
        let (hour, minute, second) = civil.to_hms();
        let month = u8::from(month);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if f.alternate() {
            write!(f, ".{:03}", self.millis)?;
        }
        f.write_str("Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_both_ways() {
        for (seconds, date, text) in [
            (0, (1970, 1, 1), "1970-01-01T00:00:00Z"),
            (951_782_400, (2000, 2, 29), "2000-02-29T00:00:00Z"),
            (67_090_118_400, (4096, 1, 1), "4096-01-01T00:00:00Z"),
        ] {
            let utc = Utc { seconds, millis: 0 };
            assert_eq!(utc.to_string(), text);
            assert_eq!(Utc::from_civil(date, (0, 0, 0)), Some(utc));
        }
        assert_eq!(Utc::from_civil((2023, 2, 29), (0, 0, 0)), None);
        assert_eq!(Utc::from_civil((1969, 12, 31), (0, 0, 0)), None);
        let utc = Utc { seconds: 1_790_003_661, millis: 5 };
        assert_eq!(format!("{utc:#}"), "2026-09-21T15:14:21.005Z");
        assert_eq!(utc.day(), "2026-09-21");
        assert_eq!(utc.unix_millis(), 1_790_003_661_005);
        assert_eq!(Utc::from_unix_millis(1_790_003_661_005), utc);
    }
}
