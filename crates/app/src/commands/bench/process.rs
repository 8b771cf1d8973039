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
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_both() {
        if cfg!(target_os = "linux") {
            assert!(cpu_s().is_some_and(|seconds| seconds >= 0.0));
            assert!(peak_mb().is_some_and(|mb| mb > 1.0));
        }
    }
}
