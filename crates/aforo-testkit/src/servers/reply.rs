//! What Redis replies.

use std::io::{self, BufRead, ErrorKind};

/// A reply, in the second version of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing is there.
    Nil,
    /// A word such as `OK`.
    Status(String),
    /// What went wrong, beginning with its kind: `NOSCRIPT No matching script`.
    Error(String),
    /// A whole number.
    Integer(i64),
    /// A value or a name.
    Bytes(Vec<u8>),
    /// Several replies.
    List(Vec<Reply>),
}

impl Reply {
    /// A status, an error, a number or bytes as text.
    ///
    /// # Panics
    ///
    /// If it is none of them.
    #[track_caller]
    pub fn text(&self) -> String {
        match self {
            Reply::Status(text) | Reply::Error(text) => text.clone(),
            Reply::Integer(number) => number.to_string(),
            Reply::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Reply::Nil | Reply::List(_) => panic!("no text: {self:?}"),
        }
    }

    /// A number, or bytes that are one.
    ///
    /// # Panics
    ///
    /// If it is neither.
    #[track_caller]
    pub fn integer(&self) -> i64 {
        self.text().parse().unwrap_or_else(|_| panic!("no number: {self:?}"))
    }

    /// The replies of a list.
    ///
    /// # Panics
    ///
    /// If it is no list.
    #[track_caller]
    pub fn list(&self) -> &[Reply] {
        match self {
            Reply::List(replies) => replies,
            _ => panic!("no list: {self:?}"),
        }
    }

    /// Reads one reply.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Reply> {
        let mut line = Vec::new();
        from.read_until(b'\n', &mut line)?;
        let Some(([kind], text)) = line.strip_suffix(b"\r\n").and_then(|line| line.split_at_checked(1)) else {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the connection ended before the reply"));
        };
        let text = String::from_utf8_lossy(text).into_owned();
        let number = || text.parse::<i64>().map_err(|_| unknown(&line));
        Ok(match kind {
            b'+' => Reply::Status(text),
            b'-' => Reply::Error(text),
            b':' => Reply::Integer(number()?),
            b'$' => match usize::try_from(number()?) {
                Ok(length) => {
                    let mut bytes = vec![0; length + 2];
                    from.read_exact(&mut bytes)?;
                    bytes.truncate(length);
                    Reply::Bytes(bytes)
                }
                Err(_) => Reply::Nil,
            },
            b'*' => match usize::try_from(number()?) {
                Ok(count) => Reply::List((0..count).map(|_| Reply::read(from)).collect::<io::Result<_>>()?),
                Err(_) => Reply::Nil,
            },
            _ => return Err(unknown(&line)),
        })
    }
}

fn unknown(line: &[u8]) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("no reply begins with {:?}", String::from_utf8_lossy(line)))
}
