//! The local web page over the database.
//!
//! In: requests of a browser on this machine. Out: pages with findings, functions, locks and statistics of the last run; verdicts in the database.
//!
//! [`access`] decides who may ask and who may write, [`session`] is the database, with a connection for each request, [`names`] the search; the other files are a page each, in the
//! frame that [`frame`] puts around all of them. Pages fetch nothing from elsewhere, and all that comes from the tree or from people goes through
//! the templates' escapes. Knows neither the command line nor SQLite.

mod access;
mod finding;
mod findings;
mod frame;
mod function;
mod lock;
mod manual;
mod names;
mod path;
mod picture;
mod search;
mod session;
mod source;
mod statistics;
mod verdict;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use self::access::Access;
use self::session::{Pool, Session};
use crate::finding::Level;
use crate::store;

/// The longest request that is read, in bytes.
const LONGEST: usize = 64 << 10;

/// What may be fetched, run and sent to where, whatever gets into a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The server: what all requests share.
#[derive(Debug)]
struct App {
    access: Access,
    /// The level that findings are listed from unless the address says another.
    level: Level,
    pool: Pool,
}

/// A server that has its address and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    app: Arc<App>,
}

impl Server {
    /// Opens the database of `folder`, and the address; port 0 is any that is free.
    pub fn open(folder: &Path, address: SocketAddr, level: Level) -> anyhow::Result<Server> {
        let pool = Pool::open(folder)?;
        let listener =
            TcpListener::bind(address).with_context(|| format!("cannot listen at {address}"))?;
        let access = Access::new(listener.local_addr()?)?;
        let app = App {
            access,
            level,
            pool,
        };
        Ok(Server {
            listener,
            app: Arc::new(app),
        })
    }

    /// The page's address, and the same with the token that a browser needs to write.
    pub fn addresses(&self) -> anyhow::Result<(String, String)> {
        let plain = format!("http://{}/", self.listener.local_addr()?);
        let token = self.app.access.token();
        Ok((plain.clone(), format!("{plain}?token={token}")))
    }

    /// Answers requests, for ever.
    pub fn run(self) -> anyhow::Result<()> {
        self.listener.set_nonblocking(true)?;
        // The first page and the first key of a search need not wait for what all of them need.
        let app = Arc::clone(&self.app);
        std::thread::spawn(move || {
            // What cannot be read is told by the page that needs it.
            if let Ok(session) = app.pool.take() {
                let _ = session.entries();
                let _ = session.names();
                let _ = session.classes();
                app.pool.give_back(session);
            }
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_io()
            .build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            axum::serve(listener, router(self.app)).await
        })?;
        Ok(())
    }
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(findings::page))
        .route("/finding/{id}", get(finding::page))
        .route("/finding/{id}/verdict", post(verdict::give))
        .route("/function", get(function::page))
        .route("/specification", get(function::specification))
        .route("/functions", get(search::page))
        .route("/search", get(search::names))
        .route("/lock", get(lock::page))
        .route("/locks", get(lock::list))
        .route("/path", get(path::page))
        .route("/source", get(source::page))
        .route("/rule", get(manual::rule))
        .route("/explanation", get(manual::explanation))
        .route("/statistics", get(statistics::page))
        .route("/style.css", get(frame::style))
        .route("/script.js", get(frame::script))
        .fallback(frame::nothing_here)
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// Refuses what does not come from the server's own pages, takes the token of an address into a cookie, and says what pages may do.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = if let Some(why) = app.access.refusal(request.headers()) {
        (StatusCode::FORBIDDEN, format!("{why}\n")).into_response()
    } else if request.method() == Method::GET
        && let Some((told, address)) = token_of(request.uri())
    {
        match app.access.is_token(&told) {
            true => (
                [(header::SET_COOKIE, app.access.cookie())],
                Redirect::to(&address),
            )
                .into_response(),
            false => {
                let why = "this token is not the server's: it has a new one each time it starts\n";
                (StatusCode::FORBIDDEN, why).into_response()
            }
        }
    } else {
        next.run(request).await
    };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The token that an address has, and the address without its query.
fn token_of(address: &Uri) -> Option<(String, String)> {
    let mut parts = address.query()?.split('&');
    let token = parts.find_map(|part| part.strip_prefix("token="))?;
    // No address of two slashes, which would be another host's.
    let path = address.path().trim_start_matches('/');
    Some((token.to_owned(), format!("/{path}")))
}

/// One request: the database, and what its sender may do.
struct Visit<'a> {
    app: &'a App,
    session: &'a Session,
    /// The browser has the token.
    knows_token: bool,
    /// A run is writing to the database.
    busy: bool,
}

/// Why there is no page.
enum Failure {
    NotFound(String),
    Refused(StatusCode, String),
    Broken(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Broken(error.into())
    }
}

/// Answers a request apart from those that wait for the network: the database is read without pauses.
async fn answer(
    app: Arc<App>,
    headers: HeaderMap,
    page: impl FnOnce(&Visit<'_>) -> Result<Response<Body>, Failure> + Send + 'static,
) -> Response {
    let answered = tokio::task::spawn_blocking(move || {
        let session = match app.pool.take() {
            Ok(session) => session,
            Err(error) => return frame::broken(&error.to_string()),
        };
        let visit = Visit {
            app: &app,
            busy: store::is_being_written(&session.folder),
            session: &session,
            knows_token: app.access.knows_token(&headers),
        };
        let response = page(&visit).unwrap_or_else(|failure| frame::failed(&visit, failure));
        app.pool.give_back(session);
        response
    });
    // A panic in one page is no end of the server.
    answered
        .await
        .unwrap_or_else(|_| frame::broken("an error of Cassini's own"))
}
