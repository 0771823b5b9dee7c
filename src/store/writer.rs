//! The one thread that writes results, in batches: a run killed at any point loses at most the last
//! second's work.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use rusqlite::{Connection, params};

use super::manifests;
use crate::engine::analysis::ResultKey;
use crate::engine::function::Statistics;

/// A batch is committed when it is this old or this long.
const BATCH_AGE: Duration = Duration::from_secs(1);
const BATCH_LENGTH: usize = 4096;

pub enum Message {
    Result {
        key: ResultKey,
        outcome: &'static str,
        reason: Option<String>,
        identity: [u8; 32],
        active: bool,
        summary: Vec<u8>,
        findings: Vec<u8>,
        custody: Vec<u8>,
        nesting: Vec<u8>,
        statistics: Statistics,
    },
    Finished {
        function: u32,
        outcome: &'static str,
        reason: Option<String>,
        key: Option<ResultKey>,
    },
    State {
        id: u32,
        state: Vec<u8>,
    },
    Manifest {
        command: [u8; 32],
        manifest: Vec<u8>,
    },
    Forget {
        manifests: Vec<[u8; 32]>,
        states: Vec<u32>,
    },
    /// Commit, then answer with the first error since the last answer.
    Commit(Sender<Result<(), rusqlite::Error>>),
}

/// The sending end. Dropping it commits what was sent.
#[derive(Debug)]
pub struct Writer {
    sender: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub fn start(connection: Connection) -> Writer {
        let (sender, receiver) = unbounded();
        let thread = std::thread::spawn(move || Batch::new(connection).run(&receiver));
        Writer {
            sender: Some(sender),
            thread: Some(thread),
        }
    }

    pub fn send(&self, message: Message) {
        if let Some(sender) = &self.sender {
            // The thread ends only when this end is dropped.
            let _ = sender.send(message);
        }
    }

    /// Returns when all that was sent before is on disk, or with the first error.
    pub fn commit(&self) -> Result<(), rusqlite::Error> {
        let (answer, answered) = bounded(1);
        self.send(Message::Commit(answer));
        answered.recv().unwrap_or(Ok(()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.sender.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Messages written since the last commit.
struct Batch {
    connection: Connection,
    length: usize,
    /// When to commit at the latest; `None` outside a transaction.
    due: Option<Instant>,
    error: Option<rusqlite::Error>,
}

impl Batch {
    fn new(connection: Connection) -> Self {
        Batch {
            connection,
            length: 0,
            due: None,
            error: None,
        }
    }

    fn run(mut self, receiver: &Receiver<Message>) {
        loop {
            let received = match self.due {
                Some(due) => receiver.recv_deadline(due),
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let outcome = match received {
                Ok(Message::Commit(answer)) => {
                    let committed = self.commit();
                    let _ = answer.send(self.error.take().map_or(committed, Err));
                    Ok(())
                }
                Ok(message) => self.write(message),
                Err(RecvTimeoutError::Timeout) => self.commit(),
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = self.commit();
                    return;
                }
            };
            if let Err(error) = outcome {
                self.error.get_or_insert(error);
            }
        }
    }

    fn write(&mut self, message: Message) -> Result<(), rusqlite::Error> {
        if self.due.is_none() {
            self.connection.execute_batch("BEGIN IMMEDIATE")?;
            self.due = Some(Instant::now() + BATCH_AGE);
        }
        self.length += 1;
        match message {
            Message::Result {
                key,
                outcome,
                reason,
                identity,
                active,
                summary,
                findings,
                custody,
                nesting,
                statistics,
            } => {
                self.connection
                    .prepare_cached("INSERT OR REPLACE INTO summaries VALUES (?1, ?2)")?
                    .execute(params![key.0, summary])?;
                self.connection
                    .prepare_cached(
                        "INSERT OR REPLACE INTO results
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                    )?
                    .execute(params![
                        key.0,
                        outcome,
                        reason,
                        identity,
                        active,
                        findings,
                        custody,
                        nesting,
                        statistics.blocks.cast_signed(),
                        statistics.terms.cast_signed(),
                        statistics.queries.cast_signed(),
                        statistics.solver_calls.cast_signed(),
                    ])?
            }
            Message::Finished {
                function,
                outcome,
                reason,
                key,
            } => self
                .connection
                .prepare_cached(
                    "UPDATE functions SET outcome = ?2, reason = ?3, result = ?4 WHERE id = ?1",
                )?
                .execute(params![function, outcome, reason, key.map(|key| key.0)])?,
            Message::State { id, state } => self
                .connection
                .prepare_cached("INSERT OR REPLACE INTO states VALUES (?1, ?2)")?
                .execute(params![id, state])?,
            Message::Manifest { command, manifest } => self
                .connection
                .prepare_cached("INSERT OR REPLACE INTO manifests VALUES (?1, ?2)")?
                .execute(params![command, manifest])?,
            Message::Forget { manifests, states } => {
                manifests::forget(&self.connection, &manifests, &states)?;
                0
            }
            Message::Commit(_) => 0,
        };
        if self.length >= BATCH_LENGTH || self.due.is_some_and(|due| Instant::now() >= due) {
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), rusqlite::Error> {
        if self.due.take().is_some() {
            self.length = 0;
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(())
    }
}
