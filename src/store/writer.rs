//! The one thread that writes results, in batches: a run killed at any point loses at most the last
//! second's work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use rusqlite::{Connection, params};

use super::plain::{self, Plain};
use super::results::ResultRow;
use super::{StoreError, manifests};
use crate::judge::record::ResultKey;

/// A batch is committed when it is this old or this long.
const BATCH_AGE: Duration = Duration::from_secs(1);
const BATCH_LENGTH: usize = 4096;
/// Messages that wait to be written; more make the analysis wait.
const QUEUE: usize = 1 << 14;
/// The longest wait for the thread: a disk that takes longer for one batch is taken for a dead one.
const PATIENCE: Duration = Duration::from_secs(120);

pub enum Message {
    Result {
        key: ResultKey,
        row: Box<ResultRow>,
        /// Hash of the row.
        check: i64,
        summary: Vec<u8>,
        /// What it says in words.
        plain: Box<Plain>,
    },
    Finished {
        function: u32,
        outcome: &'static str,
        reason: Option<String>,
        key: Option<ResultKey>,
    },
    /// The same of the pass that checks accesses to memory.
    FinishedAccesses {
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
    /// Commit, then answer with the first error there was.
    Commit(Sender<Result<(), rusqlite::Error>>),
}

/// The sending end. Dropping it commits what was sent.
#[derive(Debug)]
pub struct Writer {
    sender: Option<Sender<Message>>,
    /// Tells that the thread has ended.
    ended: Receiver<()>,
    /// The thread takes no more: nothing waits for it again.
    stuck: AtomicBool,
}

impl Writer {
    pub fn start(connection: Connection) -> Writer {
        let (sender, receiver) = bounded(QUEUE);
        let (end, ended) = bounded(1);
        std::thread::spawn(move || {
            Batch::new(connection).run(&receiver);
            let _ = end.send(());
        });
        Writer {
            sender: Some(sender),
            ended,
            stuck: AtomicBool::new(false),
        }
    }

    pub fn send(&self, message: Message) {
        if let Some(sender) = &self.sender
            && !self.stuck.load(Ordering::Relaxed)
            && sender.send_timeout(message, PATIENCE).is_err()
        {
            self.stuck.store(true, Ordering::Relaxed);
        }
    }

    /// Returns when all that was sent before is on disk, or with the first error.
    pub fn commit(&self) -> Result<(), StoreError> {
        let (answer, answered) = bounded(1);
        self.send(Message::Commit(answer));
        let answer = match self.stuck.load(Ordering::Relaxed) {
            true => Err(RecvTimeoutError::Timeout),
            false => answered.recv_timeout(PATIENCE),
        };
        match answer {
            Ok(committed) => Ok(committed?),
            Err(_) => {
                self.stuck.store(true, Ordering::Relaxed);
                Err(StoreError::Stuck(PATIENCE.as_secs()))
            }
        }
    }

    /// Commits what was sent, and ends the thread with its connection.
    pub fn close(mut self) -> Result<(), StoreError> {
        let committed = self.commit();
        self.end();
        committed
    }

    /// A thread that does not end is left behind, and ends with the process.
    fn end(&mut self) {
        if self.sender.take().is_some() && !self.stuck.load(Ordering::Relaxed) {
            let _ = self.ended.recv_timeout(PATIENCE);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Messages written since the last commit.
struct Batch {
    connection: Connection,
    length: usize,
    /// When to commit at the latest; `None` outside a transaction.
    due: Option<Instant>,
    error: Option<rusqlite::Error>,
    failed: bool,
}

impl Batch {
    fn new(connection: Connection) -> Self {
        Batch {
            connection,
            length: 0,
            due: None,
            error: None,
            failed: false,
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
                // After an error nothing more is written: a lock that another program holds would be
                // waited for again with each message.
                Ok(_) if self.failed => Ok(()),
                Ok(message) => self.write(message),
                Err(RecvTimeoutError::Timeout) => self.commit(),
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = self.commit();
                    return;
                }
            };
            if let Err(error) = outcome {
                self.failed = true;
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
                row,
                check,
                summary,
                plain,
            } => {
                plain::write(&self.connection, key, &plain)?;
                self.write_result(key, &row, check, &summary)?
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
            Message::FinishedAccesses {
                function,
                outcome,
                reason,
                key,
            } => self
                .connection
                .prepare_cached(
                    "UPDATE functions SET access_outcome = ?2, access_reason = ?3, access_result = ?4 WHERE id = ?1",
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

    fn write_result(
        &self,
        key: ResultKey,
        row: &ResultRow,
        check: i64,
        summary: &[u8],
    ) -> Result<usize, rusqlite::Error> {
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO summaries VALUES (?1, ?2)")?
            .execute(params![key.0, summary])?;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO results
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,
                     ?14)",
            )?
            .execute(params![
                key.0,
                row.outcome,
                row.reason,
                row.identity,
                row.active,
                row.findings,
                row.obligations,
                row.lock_order,
                row.recursion,
                row.statistics.blocks.cast_signed(),
                row.statistics.terms.cast_signed(),
                row.statistics.queries.cast_signed(),
                row.statistics.solver_calls.cast_signed(),
                check,
            ])
    }

    fn commit(&mut self) -> Result<(), rusqlite::Error> {
        if self.due.take().is_some() {
            self.length = 0;
            self.connection.execute_batch("COMMIT")?;
        }
        Ok(())
    }
}
