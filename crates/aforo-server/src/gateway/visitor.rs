//! One visitor of an API: a connection that is kept, from an address of its own. The demo's traffic comes this way.

use std::io;
use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpSocket;

/// A kept connection.
pub struct Visitor {
    sender: SendRequest<Full<Bytes>>,
    host: String,
}

impl Visitor {
    /// Connects to `to` from the address `from`.
    ///
    /// # Errors
    ///
    /// If this machine has no such address, or nobody answers.
    pub async fn connect(from: IpAddr, to: SocketAddr) -> io::Result<Visitor> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(from, 0))?;
        let stream = socket.connect(to).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        // It ends when the sender is dropped or the other side closes.
        tokio::spawn(connection);
        Ok(Visitor { sender, host: to.to_string() })
    }

    /// Sends one request and reads the answer to its end.
    ///
    /// # Errors
    ///
    /// If the connection breaks.
    pub async fn visit(&mut self, method: Method, target: &str) -> io::Result<(StatusCode, HeaderMap)> {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(http::header::HOST, &self.host)
            .body(Full::default())
            .map_err(io::Error::other)?;
        self.sender.ready().await.map_err(io::Error::other)?;
        let response = self.sender.send_request(request).await.map_err(io::Error::other)?;
        let (head, body) = response.into_parts();
        body.collect().await.map_err(io::Error::other)?;
        Ok((head.status, head.headers))
    }
}
