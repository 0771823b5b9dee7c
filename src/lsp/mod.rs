//! The editor's view: a language server over standard input and output.
//!
//! In: an editor's messages. Out: the last check's findings as diagnostics of the files that are open, and verdicts in the database. A
//! file that is saved starts a check, which is the one of `cassini check`; one that is saved meanwhile starts another one after it.
//!
//! [`wire`] reads messages, [`tree`] is the database, [`shown`] puts findings into the protocol's words. One thread reads, one checks, and
//! one, here, answers and is the only one that writes. What an editor sends that is wrong is answered with an error and ends nothing.

mod shown;
mod tree;
mod wire;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, unbounded};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response, ResponseError};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionParams, CodeActionProviderCapability, Diagnostic, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, ExecuteCommandOptions, ExecuteCommandParams, Hover, HoverContents,
    HoverParams, HoverProviderCapability, InitializeParams, MarkupContent, MarkupKind, MessageType,
    PublishDiagnosticsParams, Range, SaveOptions, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Url,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use self::tree::Workspace;
use self::tree::{Tree, real};
use self::wire::Incoming;
use crate::run::{self, Progress, RunError, Settings};
use crate::source::{Sources, inert};
use crate::triage::Verdict;

/// How long a signal may wait to be seen.
const TICK: Duration = Duration::from_millis(200);

/// The name under which the progress of a check is told.
const PROGRESS: &str = "cassini/check";

/// What happens to the server.
enum Event {
    Incoming(Incoming),
    /// The check under way has come to this stage.
    Stage(&'static str),
    Notice(String),
    /// It has ended; why, if it has failed.
    Checked(Result<(), String>),
}

/// What the editor may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Fresh,
    Initialised,
    ShutDown,
}

struct Server<'a> {
    out: &'a mut dyn Write,
    prepare: &'a dyn Fn(&Path) -> anyhow::Result<Workspace>,
    events: Sender<Event>,
    stop: &'a Arc<AtomicBool>,
    phase: Phase,
    /// `None` if its settings are wrong.
    tree: Option<Tree>,
    /// The files that are open, by the names that the editor has for them.
    open: BTreeMap<Url, PathBuf>,
    /// The check under way.
    check: Option<JoinHandle<()>>,
    /// A file was saved since it began.
    again: bool,
    /// The editor shows how far work is.
    tells_progress: bool,
    /// Requests to the editor.
    requests: i32,
}

/// Serves the editor at standard input until it goes, or `stop` is raised. `prepare` answers what to check where an editor has a folder
/// open. Answers whether the editor has taken its leave.
pub fn serve(
    prepare: &dyn Fn(&Path) -> anyhow::Result<Workspace>,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<bool> {
    let (events, received) = unbounded();
    let reader = events.clone();
    // It may wait for input for ever, and ends with the process.
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let incoming = wire::read(&mut input).unwrap_or(Incoming::Closed);
            let closed = matches!(incoming, Incoming::Closed);
            if reader.send(Event::Incoming(incoming)).is_err() || closed {
                break;
            }
        }
    });
    let mut server = Server {
        out: &mut io::stdout().lock(),
        prepare,
        events,
        stop,
        phase: Phase::Fresh,
        tree: None,
        open: BTreeMap::new(),
        check: None,
        again: false,
        tells_progress: false,
        requests: 0,
    };
    let mut result = Ok(());
    while result.is_ok() {
        let event = match received.recv_timeout(TICK) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => continue,
            Err(_) => break,
        };
        match event {
            Event::Incoming(Incoming::Closed) => break,
            Event::Incoming(Incoming::Message(Message::Notification(one)))
                if one.method == notification::Exit::METHOD =>
            {
                break;
            }
            event => result = server.happened(event),
        }
    }
    stop.store(true, Ordering::Relaxed);
    if let Some(check) = server.check.take() {
        // What it had done is kept.
        let _ = check.join();
    }
    result?;
    Ok(server.phase == Phase::ShutDown)
}

type Answer = Result<Value, ResponseError>;

fn refusal(code: ErrorCode, message: &str) -> ResponseError {
    ResponseError {
        code: code as i32,
        message: inert(message).into_owned(),
        data: None,
    }
}

fn failed(error: &anyhow::Error) -> ResponseError {
    refusal(ErrorCode::RequestFailed, &format!("{error:#}"))
}

fn parameters<P: DeserializeOwned>(value: Value) -> Result<P, ResponseError> {
    serde_json::from_value(value)
        .map_err(|error| refusal(ErrorCode::InvalidParams, &error.to_string()))
}

impl Server<'_> {
    fn happened(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Incoming(Incoming::Message(Message::Request(request))) => {
                let id = request.id.clone();
                let answer = self.request(request)?;
                let response = Response {
                    id,
                    response_result: answer,
                };
                wire::write(self.out, Message::Response(response))
            }
            Event::Incoming(Incoming::Message(Message::Notification(one))) => {
                if self.phase != Phase::Initialised {
                    return Ok(());
                }
                match self.notified(one) {
                    Ok(done) => done,
                    Err(error) => self.log(MessageType::WARNING, &error.message),
                }
            }
            Event::Incoming(Incoming::Malformed(why)) => self.log(MessageType::WARNING, &why),
            Event::Incoming(_) => Ok(()),
            Event::Stage(name) => self.progress(json!({ "kind": "report", "message": name })),
            Event::Notice(text) => self.log(MessageType::WARNING, &text),
            Event::Checked(result) => self.checked(result),
        }
    }

    fn request(&mut self, request: Request) -> io::Result<Answer> {
        let Request { method, params, .. } = request;
        match (self.phase, method.as_str()) {
            (Phase::Fresh, request::Initialize::METHOD) => return self.initialise(params),
            (Phase::Fresh, _) => {
                let why = "the server is not initialised";
                return Ok(Err(refusal(ErrorCode::ServerNotInitialized, why)));
            }
            (Phase::ShutDown, _) | (_, request::Initialize::METHOD) => {
                let why = "the server was initialised before, or shut down";
                return Ok(Err(refusal(ErrorCode::InvalidRequest, why)));
            }
            _ => {}
        }
        Ok(match method.as_str() {
            request::Shutdown::METHOD => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            request::HoverRequest::METHOD => parameters(params).and_then(|asked| self.hover(asked)),
            request::CodeActionRequest::METHOD => {
                parameters(params).and_then(|asked| self.actions(&asked))
            }
            request::ExecuteCommand::METHOD => match parameters(params) {
                Ok(asked) => return self.execute(&asked),
                Err(error) => Err(error),
            },
            other => Err(refusal(
                ErrorCode::MethodNotFound,
                &format!("there is no method `{other}`"),
            )),
        })
    }

    fn initialise(&mut self, params: Value) -> io::Result<Answer> {
        let params: InitializeParams = match parameters(params) {
            Ok(params) => params,
            Err(error) => return Ok(Err(error)),
        };
        self.phase = Phase::Initialised;
        let window = params.capabilities.window.as_ref();
        self.tells_progress = window.and_then(|window| window.work_done_progress) == Some(true);
        match (self.prepare)(&folder(&params)) {
            Ok(workspace) => {
                for notice in &workspace.notices {
                    self.log(MessageType::WARNING, notice)?;
                }
                let mut tree = Tree::new(workspace);
                match tree.load() {
                    Ok(true) => {}
                    Ok(false) => {
                        let text = "this tree was not checked yet: saving a file starts a check";
                        self.log(MessageType::INFO, text)?;
                    }
                    Err(error) => self.show(&format!("{error:#}"))?,
                }
                self.tree = Some(tree);
            }
            Err(error) => self.show(&format!("{error:#}"))?,
        }
        let capabilities = ServerCapabilities {
            text_document_sync: Some(TextDocumentSyncCapability::Options(
                TextDocumentSyncOptions {
                    open_close: Some(true),
                    save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                        include_text: Some(false),
                    })),
                    ..TextDocumentSyncOptions::default()
                },
            )),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: vec![shown::JUDGE.to_owned()],
                ..ExecuteCommandOptions::default()
            }),
            ..ServerCapabilities::default()
        };
        Ok(Ok(json!({
            "capabilities": capabilities,
            "serverInfo": { "name": "cassini", "version": env!("CARGO_PKG_VERSION") },
        })))
    }

    fn notified(&mut self, one: Notification) -> Result<io::Result<()>, ResponseError> {
        Ok(match one.method.as_str() {
            notification::DidOpenTextDocument::METHOD => {
                let opened: DidOpenTextDocumentParams = parameters(one.params)?;
                self.opened(opened.text_document.uri)
            }
            notification::DidCloseTextDocument::METHOD => {
                let closed: DidCloseTextDocumentParams = parameters(one.params)?;
                let uri = closed.text_document.uri;
                self.open.remove(&uri);
                self.publish(uri, Vec::new())
            }
            notification::DidSaveTextDocument::METHOD => self.start(),
            // The protocol has more than is needed here.
            _ => Ok(()),
        })
    }

    /// A file was opened: another program may have checked the tree meanwhile.
    fn opened(&mut self, uri: Url) -> io::Result<()> {
        let Ok(path) = uri.to_file_path() else {
            return Ok(());
        };
        self.open.insert(uri.clone(), real(&path).unwrap_or(path));
        if let Some(Err(error)) = self.tree.as_mut().map(Tree::load) {
            self.log(MessageType::WARNING, &format!("{error:#}"))?;
        }
        self.tell(&uri)
    }

    /// Publishes the findings of an open file.
    fn tell(&mut self, uri: &Url) -> io::Result<()> {
        let (Some(tree), Some(file)) = (&self.tree, self.open.get(uri)) else {
            return Ok(());
        };
        let mut sources = Sources::default();
        let entries = tree.of_file(file).into_iter();
        let shown = entries.map(|entry| shown::diagnostic(entry, &tree.root, &mut sources));
        let shown = shown.collect();
        self.publish(uri.clone(), shown)
    }

    fn tell_all(&mut self) -> io::Result<()> {
        let open: Vec<Url> = self.open.keys().cloned().collect();
        open.iter().try_for_each(|uri| self.tell(uri))
    }

    fn publish(&mut self, uri: Url, diagnostics: Vec<Diagnostic>) -> io::Result<()> {
        self.notify::<notification::PublishDiagnostics>(PublishDiagnosticsParams {
            uri,
            diagnostics,
            version: None,
        })
    }

    /// Starts a check, now or after the one that is under way.
    fn start(&mut self) -> io::Result<()> {
        self.again = self.check.is_some();
        let (Some(tree), false) = (&self.tree, self.again) else {
            return Ok(());
        };
        let (settings, events) = (tree.settings().clone(), self.events.clone());
        let stop = Arc::clone(self.stop);
        self.check = Some(thread::spawn(move || {
            let result = check(&settings, &events, &stop);
            // Nobody listens any more if the server is ending.
            let _ = events.send(Event::Checked(result));
        }));
        if self.tells_progress {
            self.requests += 1;
            let id = RequestId::from(self.requests);
            let method = request::WorkDoneProgressCreate::METHOD.to_owned();
            let request = Request::new(id, method, json!({ "token": PROGRESS }));
            wire::write(self.out, Message::Request(request))?;
        }
        self.progress(json!({ "kind": "begin", "title": "Cassini" }))
    }

    fn checked(&mut self, result: Result<(), String>) -> io::Result<()> {
        if let Some(check) = self.check.take() {
            let _ = check.join();
        }
        self.progress(json!({ "kind": "end" }))?;
        if let Err(why) = result {
            self.show(&why)?;
        }
        if let Some(Err(error)) = self.tree.as_mut().map(Tree::load) {
            self.show(&format!("{error:#}"))?;
        }
        self.tell_all()?;
        match self.again {
            true => self.start(),
            false => Ok(()),
        }
    }

    fn hover(&self, asked: HoverParams) -> Answer {
        let at = asked.text_document_position_params;
        let Some(tree) = &self.tree else {
            return Ok(Value::Null);
        };
        let entries = self.at(&at.text_document.uri, Range::new(at.position, at.position));
        if entries.is_empty() {
            return Ok(Value::Null);
        }
        let value = shown::whole(&entries, &tree.root).map_err(|error| failed(&error))?;
        let kind = MarkupKind::PlainText;
        Ok(json!(Hover {
            contents: HoverContents::Markup(MarkupContent { kind, value }),
            range: None,
        }))
    }

    fn actions(&self, asked: &CodeActionParams) -> Answer {
        let Some(tree) = &self.tree else {
            return Ok(json!([]));
        };
        let mut sources = Sources::default();
        let entries = self.at(&asked.text_document.uri, asked.range).into_iter();
        let actions = entries.flat_map(|entry| {
            let diagnostic = shown::diagnostic(entry, &tree.root, &mut sources);
            shown::actions(entry, &diagnostic)
        });
        Ok(json!(actions.collect::<Vec<_>>()))
    }

    /// The findings of these lines of an open file.
    fn at(&self, uri: &Url, lines: Range) -> Vec<&crate::triage::Entry> {
        let (Some(tree), Some(file)) = (&self.tree, self.open.get(uri)) else {
            return Vec::new();
        };
        shown::in_lines(&tree.of_file(file), lines)
    }

    fn execute(&mut self, asked: &ExecuteCommandParams) -> io::Result<Answer> {
        let arguments: Vec<&str> = asked.arguments.iter().filter_map(Value::as_str).collect();
        let (shown::JUDGE, [fingerprint, verdict]) = (asked.command.as_str(), arguments.as_slice())
        else {
            let why = format!("`{}` has other arguments, or is unknown", asked.command);
            return Ok(Err(refusal(ErrorCode::InvalidParams, &why)));
        };
        let given = Verdict::parse(verdict);
        if given.is_none() && *verdict != shown::OPEN {
            let why = format!("`{verdict}` is no verdict");
            return Ok(Err(refusal(ErrorCode::InvalidParams, &why)));
        }
        let Some(tree) = &mut self.tree else {
            return Ok(Ok(Value::Null));
        };
        let kept = tree
            .judge(fingerprint, given)
            .and_then(|()| tree.load().map(|_| ()));
        if let Err(error) = kept {
            return Ok(Err(failed(&error)));
        }
        self.tell_all()?;
        Ok(Ok(Value::Null))
    }

    fn progress(&mut self, value: Value) -> io::Result<()> {
        if !self.tells_progress {
            return Ok(());
        }
        let params = json!({ "token": PROGRESS, "value": value });
        let method = notification::Progress::METHOD.to_owned();
        wire::write(
            self.out,
            Message::Notification(Notification { method, params }),
        )
    }

    /// Writes into the editor's log.
    fn log(&mut self, kind: MessageType, text: &str) -> io::Result<()> {
        let message = inert(text).into_owned();
        self.notify::<notification::LogMessage>(lsp_types::LogMessageParams { typ: kind, message })
    }

    /// Tells of an error where a person sees it.
    fn show(&mut self, text: &str) -> io::Result<()> {
        let message = format!("cassini: {}", inert(text));
        self.notify::<notification::ShowMessage>(lsp_types::ShowMessageParams {
            typ: MessageType::ERROR,
            message,
        })
    }

    fn notify<N: notification::Notification>(&mut self, params: N::Params) -> io::Result<()> {
        let one = Notification::new(N::METHOD.to_owned(), params);
        wire::write(self.out, Message::Notification(one))
    }
}

/// The folder that the editor has open, or else the current one.
fn folder(params: &InitializeParams) -> PathBuf {
    let folders = params.workspace_folders.iter().flatten();
    let mut addresses = folders.map(|folder| &folder.uri);
    #[expect(deprecated, reason = "older editors send nothing else")]
    let address = addresses.next().or(params.root_uri.as_ref());
    let path = address.and_then(|address| address.to_file_path().ok());
    path.unwrap_or_else(|| PathBuf::from("."))
}

/// The check of `cassini check`.
fn check(settings: &Settings, events: &Sender<Event>, stop: &AtomicBool) -> Result<(), String> {
    let told = Told(events.clone());
    // An error of Cassini's own is no end of the server.
    let run = catch_unwind(AssertUnwindSafe(|| run::run(settings, &told, stop)));
    match run {
        Ok(Ok(_) | Err(RunError::Interrupted)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the check has failed by an error of Cassini's own".to_owned()),
    }
}

/// Hands what a check tells to the thread that writes.
struct Told(Sender<Event>);

impl Progress for Told {
    fn stage(&self, name: &'static str, _total: u64) {
        let _ = self.0.send(Event::Stage(name));
    }

    fn step(&self) {}

    fn notice(&self, text: &str) {
        let _ = self.0.send(Event::Notice(text.to_owned()));
    }
}
