//! Times: percentiles by nearest rank, and a histogram with steps that suit both a dock and a model.

use std::time::Duration;

/// The upper ends of the histogram's steps, in milliseconds; the last step has none.
const STEPS: &[u64] = &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 3_000, 10_000];

/// Times, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Latency {
    sorted: Vec<Duration>,
}

impl Latency {
    pub(crate) fn of(mut times: Vec<Duration>) -> Latency {
        times.sort_unstable();
        Latency { sorted: times }
    }

    pub(crate) fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The least time that so many percent of all do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.sorted.len() * percent).div_ceil(100).max(1);
        self.sorted.get(rank - 1).copied().unwrap_or_default()
    }

    pub(crate) fn max(&self) -> Duration {
        self.sorted.last().copied().unwrap_or_default()
    }

    /// Each step that is needed, from the first to the last with a time in it: its name and its count.
    pub(crate) fn histogram(&self) -> Vec<(String, usize)> {
        let mut counts = vec![0_usize; STEPS.len() + 1];
        for time in &self.sorted {
            let step =
                STEPS.iter().position(|end| *time <= Duration::from_millis(*end)).unwrap_or(STEPS.len());
            if let Some(count) = counts.get_mut(step) {
                *count += 1;
            }
        }
        let names = STEPS.iter().map(|end| format!("up to {end} ms")).chain(["longer".to_owned()]);
        let steps: Vec<(String, usize)> = names.zip(counts).collect();
        let first = steps.iter().position(|(_, count)| *count > 0).unwrap_or(steps.len());
        let last = steps.iter().rposition(|(_, count)| *count > 0).map_or(first, |last| last + 1);
        steps.into_iter().take(last).skip(first).collect()
    }
}

/// Milliseconds, with a digit more below ten.
pub(crate) fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1_000.0;
    if ms < 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ms: impl IntoIterator<Item = u64>) -> Latency {
        Latency::of(ms.into_iter().map(Duration::from_millis).collect())
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let latency = of((1..=200).rev());
        let at = |percent| latency.percentile(percent).as_millis();
        assert_eq!((at(50), at(95), at(99), at(100), latency.max().as_millis()), (100, 190, 198, 200, 200));
        assert_eq!(of([7]).percentile(50).as_millis(), 7);
        assert_eq!(of([]).percentile(99), Duration::ZERO);
    }

    #[test]
    fn the_histogram_counts_every_time_once() {
        let steps = of([2, 3, 3, 40, 20_000]).histogram();
        let named = |name: &str| steps.iter().find(|(found, _)| found == name).map(|(_, count)| *count);
        assert_eq!(
            (named("up to 2 ms"), named("up to 5 ms"), named("up to 10 ms"), named("longer")),
            (Some(1), Some(2), Some(0), Some(1))
        );
        assert_eq!(steps.iter().map(|(_, count)| count).sum::<usize>(), 5);
        assert_eq!(of([]).histogram(), []);
    }
}
