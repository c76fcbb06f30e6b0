//! The gateway alone, without rules: to measure it, and to try it out.
//!
//! `cargo run --release --example proxy -- 127.0.0.1:8080 http://127.0.0.1:3000`

use std::convert::Infallible;
use std::error::Error;
use std::num::NonZeroUsize;

use aforo_server::gateway::{Settings, bind};

fn main() -> Result<Infallible, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(listen), Some(upstream)) = (arguments.next(), arguments.next()) else {
        return Err("expected LISTEN and UPSTREAM, e.g. 127.0.0.1:8080 http://127.0.0.1:3000".into());
    };
    let mut settings = Settings::new(listen.parse()?, vec![upstream.parse()?]);
    settings.workers = NonZeroUsize::MIN;
    let running = bind(&settings)?.serve(|forward| forward)?;
    println!("listening on http://{}", running.address());
    loop {
        std::thread::park();
    }
}
