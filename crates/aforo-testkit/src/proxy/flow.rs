//! One direction of one connection.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::frames::Frames;
use super::link::{Fault, Link};
use super::random::Random;

/// Carries what one end sends to the other, or does not.
#[derive(Debug)]
pub(super) struct Flow {
    connection: Arc<Connection>,
    from: End,
    link: Arc<Link>,
    random: Random,
    frames: Frames,
    /// What is still on its way, and when it arrives.
    late: VecDeque<(Instant, Vec<u8>)>,
    lost: bool,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Client,
    Server,
}

impl Flow {
    /// The requests and the replies of a connection.
    pub(super) fn both(
        connection: &Arc<Connection>,
        requests: &Arc<Link>,
        replies: &Arc<Link>,
        mut random: Random,
    ) -> [Flow; 2] {
        [(End::Client, requests), (End::Server, replies)].map(|(from, link)| Flow {
            connection: connection.clone(),
            from,
            link: link.clone(),
            random: random.split(),
            frames: Frames::default(),
            late: VecDeque::new(),
            lost: false,
        })
    }

    /// Works until the sender has closed, or the connection is cut.
    pub(super) fn run(mut self) {
        let connection = self.connection.clone();
        let (mut from, to) = match self.from {
            End::Client => (&connection.client, &connection.server),
            End::Server => (&connection.server, &connection.client),
        };
        let mut packet = vec![0; 1 << 16];
        while !connection.is_cut() {
            self.deliver(to);
            // Zero would mean no timeout.
            let wait = self.arrival().map(|due| due.duration_since(Instant::now()).max(Duration::from_millis(1)));
            let _ = from.set_read_timeout(wait);
            match from.read(&mut packet) {
                Ok(0) => break,
                Ok(length) => self.packet(&packet[..length], to),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => connection.cut(),
            }
        }
        while let Some(due) = self.arrival() {
            connection.wait_until(due);
            self.deliver(to);
            if connection.is_cut() {
                return;
            }
        }
        if !self.lost && !connection.is_cut() {
            let _ = to.shutdown(Shutdown::Write);
        }
    }

    /// When the next late packet arrives.
    fn arrival(&self) -> Option<Instant> {
        self.late.front().map(|(due, _)| *due)
    }

    fn deliver(&mut self, to: &TcpStream) {
        while self.arrival().is_some_and(|due| due <= Instant::now()) {
            if let Some((_, packet)) = self.late.pop_front() {
                self.connection.write(to, &packet);
            }
        }
    }

    fn packet(&mut self, bytes: &[u8], to: &TcpStream) {
        let fault = self.link.packet(bytes.len(), self.frames.ended_in(bytes));
        let delay = match fault {
            Fault::Late { percent, by } if self.random.chance(percent) => by,
            Fault::Late { .. } | Fault::Pass => Duration::ZERO,
            Fault::Lose => {
                self.lost = true;
                self.late.clear();
                return;
            }
        };
        if self.lost {
            return;
        }
        if delay.is_zero() && self.late.is_empty() {
            self.connection.write(to, bytes);
            return;
        }
        let own = Instant::now() + delay;
        let due = self.late.back().map_or(own, |(before, _)| own.max(*before));
        self.late.push_back((due, bytes.to_vec()));
    }
}
