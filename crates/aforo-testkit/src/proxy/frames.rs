//! Where messages of Redis end in a stream.

/// Counts the messages of one direction, in both versions of the protocol.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The line that has begun: a kind and a number, or a word.
    line: Vec<u8>,
    /// Bytes of a value that are still to come.
    skip: u64,
    /// Parts of the message that are still to come, after the part that has begun.
    parts: u64,
}

impl Frames {
    /// How many messages end in `bytes`.
    pub(super) fn ended_in(&mut self, mut bytes: &[u8]) -> u64 {
        let mut ended = 0;
        while !bytes.is_empty() {
            if self.skip > 0 {
                let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
                bytes = &bytes[skipped..];
                self.skip -= skipped as u64;
                if self.skip > 0 {
                    break;
                }
            } else {
                let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                    self.line.extend(bytes);
                    break;
                };
                self.line.extend(&bytes[..end]);
                bytes = &bytes[end + 1..];
                self.line_ended();
                self.line.clear();
                if self.skip > 0 {
                    continue;
                }
            }
            match self.parts.checked_sub(1) {
                Some(parts) => self.parts = parts,
                None => ended += 1,
            }
        }
        ended
    }

    /// Learns from a line what follows it.
    fn line_ended(&mut self) {
        let Some((kind, number)) = self.line.split_first() else { return };
        // A line without a number, and the number -1 of what is not there, have nothing behind them.
        let number: Option<u64> = std::str::from_utf8(number).ok().and_then(|text| text.trim_end().parse().ok());
        let Some(number) = number else { return };
        match kind {
            b'$' | b'!' | b'=' => self.skip = number + 2,
            b'*' | b'~' | b'>' => self.parts += number,
            b'%' => self.parts += 2 * number,
            // The message that an attribute belongs to comes after it.
            b'|' => self.parts += 2 * number + 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Frames;

    const STREAM: &[u8] = b"*2\r\n$3\r\nGET\r\n$2\r\n*1\r\n+OK\r\n$-1\r\n*0\r\n*2\r\n*1\r\n:1\r\n:2\r\n%1\r\n+a\r\n_\r\n$0\r\n\r\nPING\r\n";

    #[test]
    fn messages_are_counted_when_they_end() {
        assert_eq!(Frames::default().ended_in(STREAM), 8);
    }

    #[test]
    fn it_does_not_matter_where_packets_end() {
        for size in 1..STREAM.len() {
            let mut frames = Frames::default();
            let ended: u64 = STREAM.chunks(size).map(|packet| frames.ended_in(packet)).sum();
            assert_eq!(ended, 8, "in packets of {size} bytes");
        }
    }
}
