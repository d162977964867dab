//! gRPC, as much of it as a bot needs, on h2 and prost: a call is an HTTP/2 request, a message is five bytes of length and
//! then protobuf, and the status of the call comes in the trailers. This file knows nothing of Cutpurse. Where tonic is
//! to be had it does all this; see README.md.

use std::collections::HashMap;
use std::io;
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use h2::client::{ResponseFuture, SendRequest};
use http::header::{AUTHORIZATION, CONTENT_TYPE, TE};
use http::{HeaderMap, Request};
use prost::Message;
use prost_types::Any;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// The codes of a status that are told apart here.
pub mod code {
    pub const OK: i32 = 0;
    pub const CANCELLED: i32 = 1;
    pub const UNKNOWN: i32 = 2;
    pub const INVALID_ARGUMENT: i32 = 3;
    pub const NOT_FOUND: i32 = 5;
    pub const RESOURCE_EXHAUSTED: i32 = 8;
    pub const INTERNAL: i32 = 13;
    pub const UNAVAILABLE: i32 = 14;
}

/// How a call ended.
#[derive(Debug, Clone)]
pub struct Status {
    pub code: i32,
    pub message: String,
    /// How long to wait before another attempt, if the server says so.
    pub retry_after: Option<Duration>,
    /// Why, for programs.
    pub info: ErrorInfo,
}

/// google.rpc.ErrorInfo.
#[derive(Clone, PartialEq, Message)]
pub struct ErrorInfo {
    #[prost(string, tag = "1")]
    pub reason: String,
    #[prost(map = "string, string", tag = "3")]
    pub metadata: HashMap<String, String>,
}

/// google.rpc.Status, as much as is needed of it.
#[derive(Clone, PartialEq, Message)]
struct Details {
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// google.rpc.RetryInfo.
#[derive(Clone, PartialEq, Message)]
struct RetryInfo {
    #[prost(message, optional, tag = "1")]
    retry_delay: Option<prost_types::Duration>,
}

impl Status {
    pub fn new(code: i32, message: impl ToString) -> Self {
        Status { code, message: message.to_string(), retry_after: None, info: ErrorInfo::default() }
    }

    fn of(trailers: &HeaderMap) -> Self {
        let text = |name| trailers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let code = text("grpc-status").parse().unwrap_or(code::UNKNOWN);
        let details =
            Details::decode(from_base64(text("grpc-status-details-bin")).as_slice()).unwrap_or_default().details;
        let detail = |name| details.iter().find(|any| any.type_url.ends_with(name)).map(|any| any.value.as_slice());
        let delay = detail("/google.rpc.RetryInfo").and_then(|value| RetryInfo::decode(value).ok()?.retry_delay);
        let info = detail("/google.rpc.ErrorInfo").and_then(|value| ErrorInfo::decode(value).ok());
        let retry_after = delay.map(|delay| Duration::new(delay.seconds as u64, delay.nanos as u32));
        Status { code, message: unescaped(text("grpc-message")), retry_after, info: info.unwrap_or_default() }
    }
}

impl From<io::Error> for Status {
    fn from(problem: io::Error) -> Self {
        Status::new(code::UNAVAILABLE, problem)
    }
}

impl From<h2::Error> for Status {
    fn from(problem: h2::Error) -> Self {
        Status::new(code::UNAVAILABLE, problem)
    }
}

impl From<native_tls::Error> for Status {
    fn from(problem: native_tls::Error) -> Self {
        Status::new(code::UNAVAILABLE, problem)
    }
}

/// The parts of a server's address.
pub enum Address {
    Unix { path: String },
    /// The host is in lower case, without brackets.
    Tcp { host: String, port: u16, is_secure: bool },
}

impl Address {
    /// Takes `host:port`, with TLS `https://host:port`, or `unix:/path`; None for anything else, which others may read as
    /// a URI, and so dial another host than the one that is looked at.
    pub fn parse(server: &str) -> Option<Self> {
        if let Some(path) = server.strip_prefix("unix:") {
            let is_path = !path.starts_with("//") && !path.is_empty();
            let is_plain = !path.chars().any(|sign| sign.is_ascii_control() || "?#%,".contains(sign));
            return (is_path && is_plain).then(|| Address::Unix { path: path.to_owned() });
        }
        let bare = server.strip_prefix("https://");
        let (host, digits) = bare.unwrap_or(server).rsplit_once(':')?;
        let is_number = digits.bytes().all(|sign| sign.is_ascii_digit()) && !digits.starts_with('0');
        let port = digits.parse().ok().filter(|_| is_number)?;
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').filter(|six| six.parse::<Ipv6Addr>().is_ok())?,
            None => Some(host).filter(|host| is_name(host) || host.parse::<Ipv4Addr>().is_ok())?,
        };
        Some(Address::Tcp { host: host.to_ascii_lowercase(), port, is_secure: bare.is_some() })
    }

    /// Empty for a socket.
    pub fn host(&self) -> &str {
        match self {
            Address::Unix { .. } => "",
            Address::Tcp { host, .. } => host,
        }
    }

    pub fn is_secure(&self) -> bool {
        matches!(self, Address::Tcp { is_secure: true, .. })
    }

    /// Whether what is sent there stays on this machine. A name such as 127.example.org does not.
    pub fn is_local(&self) -> bool {
        let host = self.host();
        host.is_empty() || host == "localhost" || host.parse::<IpAddr>().map_or(false, |ip| ip.is_loopback())
    }
}

/// Whether this is the name of a host. 127.1 and 0x7f000001 are read as addresses of IPv4, and are none.
fn is_name(host: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || sign == '-' || sign == '_';
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.chars().all(is_sign);
    let last = host.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_hex = last.strip_prefix("0x").map_or(false, |hex| hex.bytes().all(|sign| sign.is_ascii_hexdigit()));
    let is_number = is_hex || last.bytes().all(|sign| sign.is_ascii_digit());
    host.len() <= 253 && host.split('.').all(is_label) && !is_number
}

/// A connection to a server.
pub struct Channel {
    requests: SendRequest<Bytes>,
    origin: String,
    authorization: Option<String>,
}

impl Channel {
    /// Connects to an address as `Address::parse` takes it; `token` goes with every call. `trusted` are certificates in
    /// PEM to know the server by; none: those of the system.
    pub async fn connect(address: &str, token: Option<&str>, trusted: Option<&str>) -> Result<Self, Status> {
        let (host, port, is_secure) = match Address::parse(address) {
            Some(Address::Tcp { host, port, is_secure }) => (host, port, is_secure),
            Some(Address::Unix { path }) => {
                return Self::over(UnixStream::connect(path).await?, "http://localhost".to_owned(), token).await
            }
            None => return Err(Status::new(code::INVALID_ARGUMENT, "it has no address of a server")),
        };
        let tcp = TcpStream::connect((host.as_str(), port)).await?;
        tcp.set_nodelay(true)?;
        let authority = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        if !is_secure {
            return Self::over(tcp, format!("http://{authority}"), token).await;
        }
        let mut tls = native_tls::TlsConnector::builder();
        tls.request_alpns(&["h2"]).disable_built_in_roots(trusted.is_some());
        for pem in trusted.into_iter().flat_map(|all| all.split_inclusive("-----END CERTIFICATE-----")) {
            if pem.contains("-----BEGIN CERTIFICATE-----") {
                tls.add_root_certificate(native_tls::Certificate::from_pem(pem.as_bytes())?);
            }
        }
        let stream = tokio_native_tls::TlsConnector::from(tls.build()?).connect(&host, tcp).await?;
        Self::over(stream, format!("https://{authority}"), token).await
    }

    async fn over<T>(stream: T, origin: String, token: Option<&str>) -> Result<Self, Status>
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (requests, connection) = h2::client::handshake(stream).await?;
        tokio::spawn(connection); // it ends with the last of the calls, which are told if it fails
        let authorization = token.map(|token| format!("Bearer {token}"));
        Ok(Channel { requests, origin, authorization })
    }

    /// Begins a call of many messages both ways; `method` is `/package.Service/Method`.
    pub async fn stream<Q, R>(&self, method: &str) -> Result<(Sender<Q>, Receiver<R>), Status> {
        let mut request = Request::post(format!("{}{method}", self.origin))
            .header(CONTENT_TYPE, "application/grpc")
            .header(TE, "trailers");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(()).map_err(|problem| Status::new(code::INVALID_ARGUMENT, problem))?;
        let (response, stream) = self.requests.clone().ready().await?.send_request(request, false)?;
        let receiver = Receiver { response: Some(response), body: None, buffer: BytesMut::new(), of: PhantomData };
        Ok((Sender { stream, of: PhantomData }, receiver))
    }

    /// A call of one message each way.
    pub async fn call<Q: Message, R: Message + Default>(&self, method: &str, request: &Q) -> Result<R, Status> {
        let (mut sender, mut receiver) = self.stream(method).await?;
        sender.send(request);
        let _ = sender.stream.send_data(Bytes::new(), true);
        receiver.message().await
    }
}

/// The way to the server.
pub struct Sender<M> {
    stream: h2::SendStream<Bytes>,
    of: PhantomData<M>,
}

impl<M: Message> Sender<M> {
    /// Sends a message. If the call is over that does nothing: `Receiver::message` tells how it ended.
    pub fn send(&mut self, message: &M) {
        let mut frame = BytesMut::with_capacity(5 + message.encoded_len());
        frame.put_u8(0); // not compressed
        frame.put_u32(message.encoded_len() as u32);
        message.encode(&mut frame).expect("there is room enough");
        let _ = self.stream.send_data(frame.freeze(), false);
    }
}

/// The way from the server.
pub struct Receiver<M> {
    response: Option<ResponseFuture>,
    body: Option<h2::RecvStream>,
    buffer: BytesMut,
    of: PhantomData<M>,
}

impl<M: Message + Default> Receiver<M> {
    /// The next message, or how the call ended. If it is dropped before it is there, nothing is lost.
    pub async fn message(&mut self) -> Result<M, Status> {
        if let Some(response) = &mut self.response {
            let (head, body) = response.await?.into_parts();
            self.response = None;
            if head.headers.contains_key("grpc-status") {
                return Err(Status::of(&head.headers)); // there is nothing else
            }
            if head.status != http::StatusCode::OK {
                return Err(Status::new(code::UNKNOWN, format!("not gRPC: HTTP status {}", head.status)));
            }
            self.body = Some(body);
        }
        let body = self.body.as_mut().ok_or_else(|| Status::new(code::UNKNOWN, "the call is over"))?;
        loop {
            if self.buffer.len() >= 5 {
                let length =
                    u32::from_be_bytes([self.buffer[1], self.buffer[2], self.buffer[3], self.buffer[4]]) as usize;
                if self.buffer[0] != 0 {
                    return Err(Status::new(code::INTERNAL, "a message is compressed, which nobody asked for"));
                }
                if self.buffer.len() >= 5 + length {
                    self.buffer.advance(5);
                    let message = M::decode(self.buffer.split_to(length));
                    return message.map_err(|problem| Status::new(code::INTERNAL, problem));
                }
            }
            match body.data().await {
                Some(data) => {
                    let data = data?;
                    body.flow_control().release_capacity(data.len())?;
                    self.buffer.extend_from_slice(&data);
                }
                None => {
                    let trailers = body.trailers().await?;
                    return Err(Status::of(&trailers.unwrap_or_default()));
                }
            }
        }
    }
}

/// As grpc-message is written: signs that are not plain ASCII as %XX.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match hex.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// As headers with the ending -bin are written; up to the first sign that does not belong there.
fn from_base64(text: &str) -> Vec<u8> {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values = text.bytes().map_while(|sign| SIGNS.iter().position(|&one| one == sign));
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0, 0);
    for value in values {
        bits = (bits << 6 | value as u32) & 0xfff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}
