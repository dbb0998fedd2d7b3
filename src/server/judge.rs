//! Runs a check where it can do no harm: at once if it is short, else on threads of its own.
//!
//! `tokio::time::timeout` stops no computation, so the engines stop themselves: they spend a
//! [`Budget`] that knows the deadline. Every check starts where its request is, with steps for some 200 µs.
//! One that needs more starts over on the blocking pool, behind as many permits as there are cores; the
//! permit goes with the work, so a caller who leaves frees nothing that still works.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::budget::Budget;
use crate::fault::Fault;

/// The steps of the first attempt: some 200 µs.
const INLINE_STEPS: u64 = 10_000;
/// Checks that may wait for a permit, per core.
const QUEUE_PER_CORE: usize = 64;
/// The submissions of waiting checks, in bytes. A parsed one takes up to 17 times its bytes.
const QUEUE_BYTES: usize = 16 * 1024 * 1024;

/// The threads for long checks.
pub(super) struct Checks {
    permits: Arc<Semaphore>,
    cores: usize,
    waiting: AtomicUsize,
    waiting_bytes: AtomicUsize,
    most_waiting: usize,
}

/// A place in the queue; dropping it frees it.
struct Waiting<'a> {
    checks: &'a Checks,
    bytes: usize,
}

impl Checks {
    pub(super) fn new(cores: usize) -> Self {
        Checks {
            permits: Arc::new(Semaphore::new(cores)),
            cores,
            waiting: AtomicUsize::new(0),
            waiting_bytes: AtomicUsize::new(0),
            most_waiting: cores * QUEUE_PER_CORE,
        }
    }

    /// Long checks that run now.
    pub(super) fn running(&self) -> usize {
        self.cores.saturating_sub(self.permits.available_permits())
    }

    /// Long checks that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Runs `check`, whose submission has `bytes` bytes, with `steps` until `deadline`.
    ///
    /// # Errors
    /// What the check answers; [`Fault::CheckTimeout`] once its steps or its time are spent;
    /// [`Fault::CheckFailed`] if it panics; [`Fault::Overloaded`] when the queue is full.
    pub(super) async fn run<T, F>(
        &self,
        check: F,
        bytes: usize,
        steps: u64,
        deadline: Instant,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Fn(&mut Budget<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let first = attempt(&check, steps.min(INLINE_STEPS), deadline);
        let unfinished = matches!(first, Err(Fault::CheckTimeout));
        if !unfinished || steps <= INLINE_STEPS || Instant::now() >= deadline {
            return first;
        }
        let waiting = self.queue(bytes)?;
        let permit = timeout_at(deadline, Arc::clone(&self.permits).acquire_owned())
            .await
            .map_err(|_| Fault::CheckTimeout)?
            .map_err(|_| Fault::Overloaded)?;
        drop(waiting);
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            attempt(&check, steps, deadline)
        });
        match timeout_at(deadline, work).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(Fault::CheckFailed),
            Err(_) => Err(Fault::CheckTimeout),
        }
    }

    fn queue(&self, bytes: usize) -> Result<Waiting<'_>, Fault> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let bytes_before = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let waiting = Waiting { checks: self, bytes };
        if before >= self.most_waiting || bytes_before.saturating_add(bytes) > QUEUE_BYTES {
            return Err(Fault::Overloaded);
        }
        Ok(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.checks.waiting.fetch_sub(1, Ordering::Relaxed);
        self.checks.waiting_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// One attempt. A panic is a defect of ours and stays with its request.
fn attempt<T>(
    check: &impl Fn(&mut Budget<'_>) -> Result<T, Fault>,
    steps: u64,
    deadline: Instant,
) -> Result<T, Fault> {
    let expired = || Instant::now() >= deadline;
    let run = || check(&mut Budget::new(steps, &expired));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Err(Fault::CheckFailed))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, clippy::panic, reason = "tests")]
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    /// A check of `cost` steps.
    fn costs(cost: u64) -> impl Fn(&mut Budget<'_>) -> Result<std::thread::ThreadId, Fault> + Send + 'static {
        move |budget| {
            for _ in 0..cost {
                budget.spend(1).map_err(|_| Fault::CheckTimeout)?;
            }
            Ok(std::thread::current().id())
        }
    }

    #[tokio::test]
    async fn short_checks_stay_and_long_ones_move() {
        let checks = Checks::new(1);
        let here = std::thread::current().id();
        assert_eq!(checks.run(costs(INLINE_STEPS), 1, u64::MAX, soon()).await, Ok(here));
        let there = checks.run(costs(INLINE_STEPS + 1), 1, u64::MAX, soon()).await.expect("a result");
        assert_ne!(there, here);
        assert_eq!((checks.running(), checks.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn steps_and_time_end_a_check() {
        let checks = Checks::new(1);
        let few = checks.run(costs(50_000), 1, 20_000, soon()).await;
        assert_eq!(few, Err(Fault::CheckTimeout));
        let begun = std::time::Instant::now();
        let deadline = Instant::now() + Duration::from_millis(50);
        let late = checks.run(costs(u64::MAX), 1, u64::MAX, deadline).await;
        assert_eq!(late, Err(Fault::CheckTimeout));
        assert!(begun.elapsed() < Duration::from_secs(2));
    }

    #[tokio::test]
    async fn a_panic_is_one_failed_check() {
        let checks = Checks::new(1);
        let inline = checks.run(|_| -> Result<(), Fault> { panic!("inline") }, 1, u64::MAX, soon()).await;
        assert_eq!(inline, Err(Fault::CheckFailed));
        let pooled = |budget: &mut Budget<'_>| -> Result<(), Fault> {
            budget.spend(INLINE_STEPS + 1).map_err(|_| Fault::CheckTimeout)?;
            panic!("on the pool")
        };
        assert_eq!(checks.run(pooled, 1, u64::MAX, soon()).await, Err(Fault::CheckFailed));
        assert_eq!(checks.running(), 0, "the permit came back");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_full_queue_sheds_and_a_waiting_check_keeps_its_deadline() {
        let checks = Arc::new(Checks { most_waiting: 1, ..Checks::new(1) });
        let deadline = Instant::now() + Duration::from_millis(300);
        let busy: Vec<_> = (0..2)
            .map(|_| {
                let checks = Arc::clone(&checks);
                tokio::spawn(async move { checks.run(costs(u64::MAX), 1, u64::MAX, deadline).await })
            })
            .collect();
        while (checks.running(), checks.waiting()) != (1, 1) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let shed = checks.run(costs(u64::MAX), 1, u64::MAX, soon()).await;
        assert_eq!(shed, Err(Fault::Overloaded));
        for check in busy {
            assert_eq!(check.await.expect("no panic"), Err(Fault::CheckTimeout));
        }
    }

    #[tokio::test]
    async fn large_submissions_fill_the_queue_by_their_bytes() {
        let checks = Checks::new(1);
        let long = costs(INLINE_STEPS + 1);
        assert_eq!(checks.run(long, QUEUE_BYTES + 1, u64::MAX, soon()).await, Err(Fault::Overloaded));
    }
}
