//! Runs the real program: the local web page over a database, asked over plain HTTP.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;
use serde_json::Value;
use tempfile::TempDir;

const SOURCE: &str = "\
struct mutex { int word; };
void mutex_lock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
struct queue { struct mutex lock; int length; };
struct mutex count;
void queue_lock(struct queue *q) { mutex_lock(&q->lock); }
void queue_grow(struct queue *q) { mutex_lock(&count); q->length++; mutex_unlock(&count); }
int queue_add(struct queue *q, int many)
{
	queue_lock(q);
	queue_grow(q);
	if (many)
		queue_lock(q); /* </code><script>alert('source')</script> */
	mutex_unlock(&q->lock);
	return 0;
}
";

const HOSTILE: &str = "<script>alert('note')</script>\"'&\u{1b}[31m\u{202e}";

/// A server on the database of a small tree, which ends with the test.
struct Server {
    tree: TempDir,
    child: Child,
    host: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn start() -> Server {
        let tree = tempfile::tempdir().unwrap();
        let folder = tree.path().join("a\"'<b>");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("queue.c"), SOURCE).unwrap();
        let checked = cassini(tree.path(), &["check", ".", "-q"])
            .output()
            .unwrap();
        assert_eq!(checked.status.code(), Some(1), "{checked:?}");
        let mut child = cassini(
            tree.path(),
            &["serve", ".", "--listen", "127.0.0.1:0", "--level", "note"],
        )
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
        let mut address = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut address).unwrap();
        let address = address.trim().strip_prefix("http://").unwrap();
        let (host, token) = address.split_once("/?token=").unwrap();
        Server {
            tree,
            child,
            host: host.to_owned(),
            token: token.to_owned(),
        }
    }

    fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    fn get_with(&self, path: &str, headers: &str) -> Answer {
        let host = &self.host;
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        ))
    }

    fn get(&self, path: &str) -> String {
        let answer = self.get_with(path, "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    fn post(&self, path: &str, host: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// The page of the one finding that is found by this rule.
    fn finding(&self, rule: &str) -> String {
        let list = self.get(&format!("/?rule={rule}"));
        let (_, rest) = list.split_once("href=\"/finding/").expect("a finding");
        let (id, _) = rest.split_once('?').unwrap();
        format!("/finding/{id}")
    }
}

fn cassini(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("cassini").expect("the binary is built for this test");
    command.current_dir(folder).args(arguments);
    command
}

/// No text of the tree or of a person is markup, and no character of it is obeyed.
fn assert_inert(page: &str) {
    assert!(
        !page.contains("<script>") && !page.contains("<b>"),
        "{page}"
    );
    assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page}");
}

#[test]
fn findings_functions_locks_and_statistics_have_pages() {
    let server = Server::start();
    let list = server.get("/");
    assert!(list.contains("lock/double-lock"), "{list}");
    assert_inert(&list);
    assert!(
        server
            .get("/?rule=heap")
            .contains("No finding is like that")
    );
    assert!(
        server
            .get("/?text=QUEUE&level=note")
            .contains("lock/double-lock")
    );
    let address = server.finding("lock/double-lock");
    let page = server.get(&address);
    for expected in [
        "&lt;/code&gt;&lt;script&gt;alert('source')",
        "class=\"ordinal\" data-step=\"1\"",
        "href=\"/function?name=queue_add",
        "a&quot;'&lt;b&gt;/queue.c",
        "open the address with the token",
    ] {
        assert!(page.contains(expected), "{expected} in\n{page}");
    }
    assert_inert(&page);
    let function = server.get("/function?name=queue_add");
    for expected in [
        "q-&gt;lock",
        "<svg",
        "queue_grow",
        "Callees",
        "struct queue.lock",
    ] {
        assert!(function.contains(expected), "{expected} in\n{function}");
    }
    assert_inert(&function);
    assert!(server.get("/locks").contains("struct queue.lock"));
    let lock = server.get("/lock?name=struct%20queue.lock");
    assert!(
        lock.contains("queue_lock") && lock.contains("<svg"),
        "{lock}"
    );
    assert!(
        server
            .get("/path?from=queue_add&to=mutex_lock")
            .contains("queue_lock")
    );
    assert!(server.get("/statistics").contains("translation units"));
    assert!(server.get("/rule?id=lock/double-lock").contains("lock"));
    let source = server.get("/source?file=a%22'%3Cb%3E/queue.c&line=3");
    assert!(source.contains("id=\"L3\""), "{source}");
    assert_inert(&source);
    for (path, status) in [
        ("/source?file=/etc/passwd", 404),
        ("/function?name=nothing", 404),
        ("/finding/zz", 404),
        ("/none", 404),
    ] {
        assert_eq!(server.get_with(path, "").status, status, "{path}");
    }
}

#[test]
fn functions_are_searched_by_part_of_their_names() {
    let server = Server::start();
    let found: Value = serde_json::from_str(&server.get("/search?q=UE_G")).unwrap();
    assert_eq!(found["count"], 1);
    assert_eq!(found["functions"][0]["name"], "queue_grow");
    let found: Value = serde_json::from_str(&server.get("/search?q=queue_")).unwrap();
    assert_eq!(found["count"], 3);
    assert!(server.get("/functions?q=grow").contains("queue_grow"));
}

#[test]
fn verdicts_need_the_token_and_stay() {
    let server = Server::start();
    let address = server.finding("lock/double-lock");
    let to = format!("{address}/verdict");
    let note: String = HOSTILE.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let told = |token: &str| format!("token={token}&verdict=bug&note={note}");
    let (host, token) = (&*server.host, &*server.token);
    let own = format!("Origin: http://{host}\r\n");
    for (host, headers, body) in [
        (host, "", "verdict=bug".to_owned()),
        (host, "", told("0123")),
        ("evil.example", "", told(token)),
        (host, "Origin: http://evil.example\r\n", told(token)),
        (host, "Origin: null\r\n", told(token)),
    ] {
        assert_eq!(
            server.post(&to, host, headers, &body).status,
            403,
            "{host} {headers}"
        );
    }
    assert!(server.get(&address).contains("verdict open"));
    let wrong = server.post(&to, host, &own, &format!("token={token}&verdict=perhaps"));
    assert_eq!(wrong.status, 400);
    assert_eq!(server.post(&to, host, &own, &told(token)).status, 303);
    let page = server.get(&address);
    assert!(
        page.contains("verdict bug") && page.contains("&lt;script&gt;alert('note')"),
        "{page}"
    );
    assert_inert(&page);
    let listed = cassini(server.tree.path(), &["triage", "list", "--format", "json"])
        .output()
        .unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed[0]["verdict"], "bug");
    assert_eq!(listed[0]["note"], HOSTILE);
    // A run beside the server finds it, and the server sees what the run leaves.
    assert_eq!(
        cassini(server.tree.path(), &["check", ".", "-q"])
            .status()
            .unwrap()
            .code(),
        Some(1)
    );
    assert!(server.get(&address).contains("verdict bug"));
    let back = format!("token={token}&verdict=none");
    assert_eq!(server.post(&to, host, &own, &back).status, 303);
    assert!(server.get(&address).contains("verdict open"));
}

#[test]
fn only_the_servers_own_pages_are_answered() {
    let server = Server::start();
    for host in ["evil.example", "127.0.0.1:1", "localhost.evil.example"] {
        let answer = server.send(&format!(
            "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ));
        assert_eq!(answer.status, 403, "{host}");
        assert!(!answer.body.contains("queue"), "{}", answer.body);
    }
    assert_eq!(
        server
            .get_with("/", "Origin: http://evil.example\r\n")
            .status,
        403
    );
    let answer = server.get_with("/", "");
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
    ] {
        assert!(answer.head.contains(header), "{}", answer.head);
    }
    // The token goes from the address into a cookie, and only its holder's pages have it.
    assert!(!answer.body.contains(&server.token));
    assert_eq!(server.get_with("/?token=0123", "").status, 403);
    let told = server.get_with(&format!("//evil.example/?token={}", server.token), "");
    assert!(
        told.status == 303 && told.head.contains("location: /evil.example"),
        "{}",
        told.head
    );
    let told = server.get_with(&format!("/?token={}", server.token), "");
    assert!(
        told.head.contains("httponly") && told.head.contains("samesite=strict"),
        "{}",
        told.head
    );
    let port = server.host.rsplit_once(':').unwrap().1;
    let cookie = format!("Cookie: cassini-{port}={}\r\n", server.token);
    let page = server
        .get_with(&server.finding("lock/double-lock"), &cookie)
        .body;
    assert!(page.contains("name=\"token\""), "{page}");
}

#[test]
fn a_database_that_is_being_written_is_shown_and_takes_no_verdict() {
    let server = Server::start();
    let address = server.finding("lock/double-lock");
    let folder = server.tree.path().join(".cassini");
    // As a run does when it begins.
    fs::remove_file(folder.join("cassini.sqlite.seal")).unwrap();
    let lock = fs::File::create(folder.join("lock")).unwrap();
    lock.try_lock().unwrap();
    assert!(
        server
            .get(&address)
            .contains("A run is writing to the database")
    );
    let body = format!("token={}&verdict=bug", server.token);
    let told = server.post(&format!("{address}/verdict"), &server.host, "", &body);
    assert_eq!(told.status, 409);
    assert!(told.body.contains("when it has ended"), "{}", told.body);
    lock.unlock().unwrap();
    assert!(!server.get(&address).contains("A run is writing"));
}
