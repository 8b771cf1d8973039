//! What Linux tells about a process in `/proc`; nothing elsewhere.

use std::fs;

/// Clock ticks a second in `/proc/PID/stat`: 100 on every Linux in use (`USER_HZ`).
const TICKS: f64 = 100.0;

/// CPU seconds (user and system) this process has used. Unlike the wall clock it says the same on a busy machine.
pub(super) fn cpu_s() -> Option<f64> {
    cpu_from(11)
}

/// CPU seconds of the processes this one has started and waited for.
pub(super) fn children_cpu_s() -> Option<f64> {
    cpu_from(13)
}

fn cpu_from(field: usize) -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The command's name stands in brackets and may hold anything; what follows is numbers.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(field);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS)
}

/// Peak resident memory of this process in MB (10^6 bytes).
pub(super) fn peak_mb() -> Option<f64> {
    memory_mb("VmHWM:")
}

fn memory_mb(field: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// Memory that one piece of work takes at most, above what was there before.
pub(super) struct PeakMemory {
    before_mb: Option<f64>,
}

impl PeakMemory {
    /// Begins to watch. What the process took before is forgotten.
    pub(super) fn start() -> Self {
        let is_reset = fs::write("/proc/self/clear_refs", "5").is_ok();
        Self {
            before_mb: is_reset.then(|| memory_mb("VmRSS:")).flatten(),
        }
    }

    /// The peak since then, in MB (10^6 bytes).
    pub(super) fn peak_mb(&self) -> Option<f64> {
        Some(peak_mb()? - self.before_mb?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_both() {
        if cfg!(target_os = "linux") {
            assert!(cpu_s().is_some_and(|seconds| seconds >= 0.0));
            assert!(peak_mb().is_some_and(|mb| mb > 1.0));
            let watch = PeakMemory::start();
            drop(std::hint::black_box(vec![1_u8; 50_000_000]));
            assert!(watch.peak_mb().is_none_or(|mb| mb > 40.0));
        }
    }
}
