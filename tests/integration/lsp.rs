//! Runs the real program as an editor does: the language server over pipes.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;
use serde_json::{Value, json};
use tempfile::TempDir;

const SOURCE: &str = "\
struct mutex { int word; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct queue { struct mutex lock; int length; };
void queue_lock(struct queue *q) { mutex_lock(&q->lock); }
int queue_add(struct queue *q, int many)
{
	/* ünïcode 🙂 */ queue_lock(q);
	if (many)
		queue_lock(q);
	mutex_unlock(&q->lock);
	return 0;
}
";

/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// An editor with the server that it has started.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    id: i64,
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cassini(here: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    command.current_dir(here).args(arguments);
    command
}

fn address(path: &Path) -> String {
    format!("file://{}", path.canonicalize().unwrap().display())
}

impl Editor {
    fn start(here: &Path, arguments: &[&str]) -> Editor {
        let mut child = cassini(here, &[&["lsp"], arguments].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if out.read_line(&mut line).unwrap() == 0 {
                        return;
                    }
                    match line.trim().split_once(": ") {
                        Some(("Content-Length", value)) => length = value.parse().unwrap(),
                        Some(_) => {}
                        None => break,
                    }
                }
                let mut text = vec![0; length];
                out.read_exact(&mut text).unwrap();
                let message = serde_json::from_slice(&text).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Editor {
            input: child.stdin.take(),
            child,
            messages,
            id: 0,
        }
    }

    /// A server that has the tree open.
    fn in_tree(tree: &Path, arguments: &[&str]) -> Editor {
        let mut editor = Editor::start(Path::new("/"), arguments);
        let folders = json!([{ "uri": address(tree), "name": "tree" }]);
        let parameters = json!({
            "processId": null, "rootUri": null, "workspaceFolders": folders,
            "capabilities": { "window": { "workDoneProgress": true } },
        });
        let answer = editor.ask("initialize", parameters);
        assert_eq!(answer["result"]["serverInfo"]["name"], "cassini");
        editor.tell("initialized", json!({}));
        editor
    }

    fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    fn tell(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        self.wait(|message| message["id"] == id && message["method"].is_null())
    }

    /// The next message that is wanted; those before it are passed over.
    fn wait(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap();
            if wanted(&message) {
                return message;
            }
        }
    }

    fn diagnostics(&self) -> Vec<Value> {
        let published = "textDocument/publishDiagnostics";
        let message = self.wait(|message| message["method"] == published);
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    fn open(&mut self, file: &Path) {
        let text = String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned();
        let document =
            json!({ "uri": address(file), "languageId": "c", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn save(&mut self, file: &Path) {
        let document = json!({ "textDocument": { "uri": address(file) } });
        self.tell("textDocument/didSave", document);
    }

    fn end(mut self) -> Option<i32> {
        let answer = self.ask("shutdown", Value::Null);
        assert_eq!(answer["result"], Value::Null);
        assert_eq!(self.ask("shutdown", Value::Null)["error"]["code"], -32600);
        self.tell("exit", Value::Null);
        self.child.wait().unwrap().code()
    }
}

fn tree() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("queue.c"), SOURCE).unwrap();
    folder
}

#[test]
fn findings_are_there_when_a_file_is_opened_and_follow_what_is_saved() {
    let tree = tree();
    let file = tree.path().join("queue.c");
    let checked = cassini(tree.path(), &["check", ".", "-q"])
        .output()
        .unwrap();
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    let mut editor = Editor::in_tree(tree.path(), &[]);
    editor.open(&file);
    let found = editor.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    let one = &found[0];
    assert_eq!(one["code"], "lock/double-lock");
    assert_eq!(
        (&one["source"], &one["severity"]),
        (&"cassini".into(), &1.into())
    );
    let range =
        json!({ "start": { "line": 9, "character": 2 }, "end": { "line": 9, "character": 12 } });
    assert_eq!(one["range"], range);
    assert!(
        one["message"].as_str().unwrap().contains("q->lock"),
        "{one}"
    );
    let steps = one["relatedInformation"].as_array().unwrap();
    assert!(steps.len() >= 2, "{one}");
    assert_eq!(steps[0]["location"]["uri"], address(&file));
    assert_eq!(steps[0]["location"]["range"]["start"]["line"], 7);

    // The finding whole under the pointer.
    let document = json!({ "uri": address(&file) });
    let at = json!({ "textDocument": document, "position": { "line": 9, "character": 4 } });
    let hover = editor.ask("textDocument/hover", at);
    let text = hover["result"]["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("queue.c:10:3") && text.contains("id: "),
        "{text}"
    );
    let at = json!({ "textDocument": document, "position": { "line": 0, "character": 0 } });
    assert_eq!(editor.ask("textDocument/hover", at)["result"], Value::Null);

    // An edit that mends it, and one that brings another one.
    fs::write(
        &file,
        SOURCE.replace("\tif (many)\n\t\tqueue_lock(q);\n", ""),
    )
    .unwrap();
    editor.save(&file);
    let stage = editor.wait(|message| message["params"]["value"]["kind"] == "report");
    assert_eq!(stage["method"], "$/progress");
    assert_eq!(editor.diagnostics(), Vec::<Value>::new());
    fs::write(
        &file,
        SOURCE.replace(
            "queue_lock(q);\n\tmutex",
            "mutex_unlock(&q->lock);\n\tmutex",
        ),
    )
    .unwrap();
    editor.save(&file);
    let found = editor.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "lock/double-unlock");

    // What has not changed was not analysed again: it is the check of the command line.
    let again = cassini(tree.path(), &["check", ".", "-v"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(told.contains("4 function results taken"), "{told}");
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn a_verdict_is_given_from_the_editor() {
    let tree = tree();
    let file = tree.path().join("queue.c");
    let mut editor = Editor::in_tree(tree.path(), &["--level", "note"]);
    editor.open(&file);
    assert_eq!(editor.diagnostics().len(), 0);
    editor.save(&file);
    assert_eq!(editor.diagnostics().len(), 1);
    let document = json!({ "uri": address(&file) });
    let line = json!({ "line": 9, "character": 0 });
    let asked = json!({
        "textDocument": document, "range": { "start": line, "end": line }, "context": { "diagnostics": [] },
    });
    let offered = editor.ask("textDocument/codeAction", asked.clone());
    let offered = offered["result"].as_array().unwrap();
    assert_eq!(offered.len(), 4, "{offered:?}");
    let of = |offered: &[Value], name: &str| -> Value {
        let has = |action: &&Value| action["title"].as_str().unwrap().ends_with(name);
        let action = offered.iter().find(has).unwrap();
        json!({ "command": action["command"]["command"], "arguments": action["command"]["arguments"] })
    };
    let bug = of(offered, "as bug");
    assert_eq!(
        editor.ask("workspace/executeCommand", bug)["result"],
        Value::Null
    );
    let offered = editor.ask("textDocument/codeAction", asked);
    let offered = offered["result"].as_array().unwrap();
    assert!(
        offered[0]["diagnostics"][0]["message"]
            .as_str()
            .unwrap()
            .contains("judged: bug")
    );
    of(offered, "take the verdict back");
    let wrong = of(offered, "as false-positive");
    editor.ask("workspace/executeCommand", wrong.clone());
    assert_eq!(
        editor.ask("workspace/executeCommand", wrong)["error"]["code"],
        -32803
    );
    let listed = cassini(tree.path(), &["triage", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("false-positive"));
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn wrong_input_is_answered_and_ends_nothing() {
    let tree = tree();
    let file = tree.path().join("queue.c");
    let mut editor = Editor::start(tree.path(), &[]);
    assert_eq!(
        editor.ask("textDocument/hover", json!({}))["error"]["code"],
        -32002
    );
    let capabilities = json!({ "capabilities": "all" });
    assert_eq!(
        editor.ask("initialize", capabilities)["error"]["code"],
        -32602
    );
    assert!(
        editor.ask("initialize", json!({ "capabilities": {} }))["result"]["capabilities"]
            .is_object()
    );
    for bytes in [
        "Content-Length: 4\r\n\r\n{\"a\u{1b}",
        "Content-Length: 7\r\n\r\n[1,2,3]",
        "Content-Length: -4\r\n\r\n",
        "\u{0}\u{1b}[2J nonsense\r\n",
    ] {
        editor.write(bytes.as_bytes());
        let told = editor.wait(|message| message["method"] == "window/logMessage");
        let text = told["params"]["message"].as_str().unwrap();
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    editor.write(b"Content-Length: 4\r\n\r\n\xff\xfe\xfd\xfc");
    assert_eq!(editor.ask("no/such", json!([]))["error"]["code"], -32601);
    assert_eq!(
        editor.ask("textDocument/hover", json!(7))["error"]["code"],
        -32602
    );
    editor.tell("textDocument/didOpen", json!({ "textDocument": 1 }));
    editor.tell("$/unknown", json!(null));
    for uri in ["untitled:1", "http://h/x.c", "file:///no/such.c"] {
        let document = json!({ "uri": uri, "languageId": "c", "version": 1, "text": "" });
        editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }
    for arguments in [
        json!([]),
        json!(["f", "wrong"]),
        json!([1, 2]),
        json!(["f", "bug"]),
    ] {
        let asked = json!({ "command": "cassini.judge", "arguments": arguments });
        assert!(editor.ask("workspace/executeCommand", asked)["error"].is_object());
    }
    editor.open(&file);
    editor.save(&file);
    editor.wait(|message| message["params"]["diagnostics"][0]["code"] == "lock/double-lock");
    assert_eq!(editor.end(), Some(0));

    // An editor that goes without a word.
    let mut editor = Editor::start(tree.path(), &[]);
    drop(editor.input.take());
    assert_eq!(editor.child.wait().unwrap().code(), Some(2));
}

#[test]
fn a_file_whose_name_is_no_text_is_found_and_settings_that_are_wrong_are_told() {
    let tree = tempfile::tempdir().unwrap();
    fs::write(tree.path().join("a b%20ü.c"), SOURCE).unwrap();
    let mut editor = Editor::in_tree(tree.path(), &[]);
    let file = tree.path().join("a b%20ü.c");
    let real = file.canonicalize().unwrap();
    let folder = real.parent().unwrap().display();
    let uri = format!("file://{folder}/a%20b%2520%C3%BC.c");
    let document = json!({ "uri": uri, "languageId": "c", "version": 1, "text": SOURCE });
    editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
    assert_eq!(editor.diagnostics().len(), 0);
    editor.save(&file);
    assert_eq!(editor.diagnostics().len(), 1);
    assert_eq!(editor.end(), Some(0));

    fs::write(tree.path().join("cassini.toml"), "levle = 1\n").unwrap();
    let mut editor = Editor::start(tree.path(), &[]);
    editor.ask_without_answer();
    let shown = editor.wait(|message| message["method"] == "window/showMessage");
    assert!(
        shown["params"]["message"]
            .as_str()
            .unwrap()
            .contains("levle"),
        "{shown}"
    );
    assert_eq!(editor.end(), Some(0));
}

impl Editor {
    /// Initialises, and leaves the answer where it is.
    fn ask_without_answer(&mut self) {
        self.id += 1;
        let parameters = json!({ "capabilities": {} });
        self.send(&json!({ "jsonrpc": "2.0", "id": self.id, "method": "initialize", "params": parameters }));
    }
}
