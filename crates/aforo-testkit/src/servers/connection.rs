//! A connection of a test's own, to look into a server and to change it.

use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use super::Reply;

/// What a server does not answer within this, it does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to a server on the loopback.
#[derive(Debug)]
pub struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Connects to a port.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    pub fn open(port: u16) -> io::Result<Connection> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Connection(BufReader::new(stream)))
    }

    /// The same connection, on which a reply that takes longer than this is an error.
    ///
    /// # Panics
    ///
    /// If it is no time at all.
    pub fn with_patience(self, patience: Duration) -> Connection {
        self.0.get_ref().set_read_timeout(Some(patience)).expect("some time");
        self
    }

    /// Sends a command and reads its reply, which may be an error of Redis.
    ///
    /// # Errors
    ///
    /// If the connection ends, or there is no reply within 10 seconds.
    pub fn ask(&mut self, words: &[&str]) -> io::Result<Reply> {
        self.send(words)?;
        self.reply()
    }

    /// Sends a command; its reply is read later.
    ///
    /// # Errors
    ///
    /// If the connection has ended.
    pub fn send(&mut self, words: &[&str]) -> io::Result<()> {
        let mut bytes = format!("*{}\r\n", words.len());
        for word in words {
            bytes.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        self.0.get_mut().write_all(bytes.as_bytes())
    }

    /// Reads the next reply.
    ///
    /// # Errors
    ///
    /// If the connection ends, or there is none within 10 seconds.
    pub fn reply(&mut self) -> io::Result<Reply> {
        Reply::read(&mut self.0)
    }
}
