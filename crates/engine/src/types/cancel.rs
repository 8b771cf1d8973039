use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks work that has begun to stop. Copies ask the same work.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks; the work ends with [`crate::Error::Interrupted`] at its next safe point.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
        tracing::debug!("asked to stop");
    }

    /// Whether it was asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// A safe point: nothing as long as it was not asked.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`] once it was.
    pub fn go_on(&self) -> crate::Result<()> {
        if self.is_cancelled() {
            return Err(crate::Error::Interrupted);
        }
        Ok(())
    }
}

impl PartialEq for Cancel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cancel {}
