//! Who may ask the server, and who may write.
//!
//! In: the headers of a request. Out: whether it comes from the server's own pages, and whether its sender knows the token.
//!
//! A page of another site can make a browser send requests here. It cannot read the answers, as the browser keeps pages of
//! different origins apart, unless the other site's name is made to mean this machine (DNS rebinding): `Host` then has that name.
//! It cannot write, as it does not know the token, and its requests have its own `Origin`.

use std::net::SocketAddr;

use axum::http::header::{COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use axum::http::uri::Authority;

/// Bytes of a token.
const TOKEN: usize = 24;

/// What the server knows of those who may use it.
#[derive(Debug)]
pub struct Access {
    address: SocketAddr,
    token: String,
}

impl Access {
    /// Of a server at this address, with a new token.
    pub fn new(address: SocketAddr) -> anyhow::Result<Access> {
        let mut bytes = [0; TOKEN];
        getrandom::fill(&mut bytes)
            .map_err(|error| anyhow::anyhow!("the system has no random numbers: {error}"))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Access { address, token })
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// Why a request is refused, if it is.
    pub fn refusal(&self, headers: &HeaderMap) -> Option<&'static str> {
        let Some(host) = only(headers, &HOST).filter(|host| self.is_own(host)) else {
            return Some(
                "the request is for another host: open the address that `cassini serve` has printed",
            );
        };
        let mut origins = headers.get_all(ORIGIN).iter();
        let own = format!("http://{host}");
        if origins.any(|origin| origin.as_bytes() != own.as_bytes()) {
            return Some("the request comes from the page of another site");
        }
        None
    }

    /// Whether a name and port mean this server. An IP address does: only a name can be made to mean another machine.
    fn is_own(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        if host.contains('@') || authority.port_u16().unwrap_or(80) != self.address.port() {
            return false;
        }
        let name = authority.host();
        let name = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'))
            .unwrap_or(name);
        let loopback = self.address.ip().is_loopback();
        match name.parse::<std::net::IpAddr>() {
            Ok(address) => address.is_loopback() || !loopback,
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Whether this is the token.
    pub fn is_token(&self, told: &str) -> bool {
        // Hashes are compared in constant time.
        blake3::hash(told.as_bytes()) == blake3::hash(self.token.as_bytes())
    }

    /// The cookie that keeps the token in a browser. Servers at other ports have cookies of other names.
    pub fn cookie(&self) -> String {
        let (name, token) = (self.cookie_name(), &self.token);
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict")
    }

    /// Whether a browser has got the token before.
    pub fn knows_token(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter();
        let cookies = cookies.filter_map(|cookies| cookies.to_str().ok());
        let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
        pairs.any(|pair| {
            let pair = pair.trim().split_once('=');
            pair.is_some_and(|(known, value)| known == name && self.is_token(value))
        })
    }

    fn cookie_name(&self) -> String {
        format!("cassini-{}", self.address.port())
    }
}

/// The value of a header that is there once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: &str) -> Access {
        Access::new(address.parse().unwrap()).unwrap()
    }

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let pairs = pairs.iter().cloned();
        let pairs = pairs.map(|(name, value)| (name, value.parse().unwrap()));
        let mut headers = HeaderMap::new();
        pairs.for_each(|(name, value)| _ = headers.append(name, value));
        headers
    }

    #[test]
    fn only_the_servers_own_names_and_pages_are_admitted() {
        let access = access("127.0.0.1:4711");
        for host in [
            "127.0.0.1:4711",
            "localhost:4711",
            "LOCALHOST:4711",
            "[::1]:4711",
        ] {
            assert_eq!(access.refusal(&headers(&[(HOST, host)])), None, "{host}");
        }
        for host in [
            "evil.example:4711",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost.evil:4711",
            "10.0.0.1:4711",
            "x@127.0.0.1:4711",
            "",
        ] {
            assert!(
                access.refusal(&headers(&[(HOST, host)])).is_some(),
                "{host}"
            );
        }
        assert!(access.refusal(&headers(&[])).is_some());
        let own = "127.0.0.1:4711";
        assert!(
            access
                .refusal(&headers(&[(HOST, own), (HOST, own)]))
                .is_some()
        );
        let from = |origin| access.refusal(&headers(&[(HOST, own), (ORIGIN, origin)]));
        assert_eq!(from("http://127.0.0.1:4711"), None);
        for origin in [
            "http://evil.example",
            "null",
            "https://127.0.0.1:4711",
            "http://localhost:4711",
        ] {
            assert!(from(origin).is_some(), "{origin}");
        }
    }

    #[test]
    fn an_address_of_the_network_is_admitted_where_the_server_listens_there() {
        let access = access("0.0.0.0:8000");
        assert_eq!(access.refusal(&headers(&[(HOST, "10.0.0.1:8000")])), None);
        assert!(
            access
                .refusal(&headers(&[(HOST, "evil.example:8000")]))
                .is_some()
        );
    }

    #[test]
    fn the_token_is_known_from_the_servers_own_cookie() {
        let access = access("127.0.0.1:4711");
        let token = access.token();
        assert_eq!(token.len(), 2 * TOKEN);
        let knows = |cookie: String| access.knows_token(&headers(&[(COOKIE, &cookie)]));
        assert!(knows(format!("a=b; cassini-4711={token}")));
        assert!(!knows(format!("cassini-4712={token}")));
        assert!(!knows("cassini-4711=".to_owned()));
        assert!(!access.is_token(&token[1..]));
    }
}
