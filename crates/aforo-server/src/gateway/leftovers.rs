//! Request bodies that nobody reads any more.
//!
//! A request can be answered before its body has arrived: refused, for one. To close the connection at once would make
//! the client's system discard the answer that it has not read yet (RFC 9112, section 9.6), and over HTTP/2 many clients
//! take a stream that is reset for a fault. So what is on its way is read and dropped, within bounds; after that the
//! connection goes on.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::incoming::Arriving;

/// The most that is read of one body.
const MOST: usize = 8 * 1024 * 1024;
/// The longest silence that is waited through.
const SILENCE: Duration = Duration::from_secs(5);

/// The bodies of one connection that nobody reads. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Leftovers(Rc<Shared>);

#[derive(Default)]
struct Shared {
    /// Each with the bytes that were read of it.
    bodies: RefCell<Vec<(Box<Arriving>, usize)>>,
    connection: RefCell<Option<Waker>>,
}

impl Leftovers {
    /// Leaves a body to its connection.
    pub(super) fn add(&self, body: Box<Arriving>) {
        self.0.bodies.borrow_mut().push((body, 0));
        if let Some(connection) = self.0.connection.borrow().as_ref() {
            connection.wake_by_ref();
        }
    }

    /// Reads and drops what has arrived. The connection calls it each time it is polled, and is woken when there is more.
    pub(super) fn drain(&self, cx: &mut Context<'_>) {
        let mut connection = self.0.connection.borrow_mut();
        if !connection.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *connection = Some(cx.waker().clone());
        }
        drop(connection);
        self.0.bodies.borrow_mut().retain_mut(|(body, read)| {
            loop {
                match body.poll(SILENCE, cx) {
                    Poll::Pending => return true,
                    Poll::Ready(Some(Ok(frame))) => {
                        *read += frame.data_ref().map_or(0, |bytes| bytes.len());
                        if *read > MOST {
                            return false;
                        }
                    }
                    Poll::Ready(Some(Err(_)) | None) => return false,
                }
            }
        });
    }
}

impl fmt::Debug for Leftovers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leftovers")
    }
}
