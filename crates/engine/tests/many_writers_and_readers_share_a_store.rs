//! Eight writers and eight readers at once, and a writer that is killed: everybody finishes, and
//! nobody has to clean up.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use malha_engine::Error;
use malha_engine::storage::Store;
use malha_engine::types::Namespace;

const WRITERS: usize = 8;
const READERS: usize = 8;
const ROUNDS: usize = 12;
const WAIT: Duration = Duration::from_mins(1);

/// What a child process of these tests is told to do, and with which store.
const TASK: &str = "MALHA_TEST_TASK";
const STORE: &str = "MALHA_TEST_STORE";

/// Not a test of its own: what the other tests run in child processes.
#[test]
fn child() {
    let (Ok(task), Ok(path)) = (std::env::var(TASK), std::env::var(STORE)) else {
        return;
    };
    let path = Path::new(&path);
    match task.split_once(' ') {
        Some(("write", number)) => write(path, number),
        Some(("read", _)) => read(path),
        Some(("hold", _)) => hold(path),
        other => panic!("{other:?}"),
    }
}

fn start(task: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(TASK, task)
        .env(STORE, path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

fn write(path: &Path, number: &str) {
    for round in 0..ROUNDS {
        let store = Store::create_or_open(path).unwrap();
        let lease = store.write_lease("test writer", WAIT).unwrap();
        let transaction = lease.transaction().unwrap();
        let name = Namespace::new(&format!("w{number}-{round}")).unwrap();
        transaction.namespace(&name).unwrap();
        transaction.commit().unwrap();
    }
}

fn read(path: &Path) {
    let (mut generation, mut namespaces) = (0, 1);
    for _ in 0..ROUNDS * 4 {
        let store = Store::open_read_only(path).unwrap();
        let state = store.read().unwrap();
        let seen = store.generation().unwrap();
        let count = store.namespaces().unwrap().len();
        assert_eq!(
            seen,
            store.generation().unwrap(),
            "one state, while others write"
        );
        drop(state);
        assert!(seen >= generation, "a reader never goes back");
        assert_eq!(
            count > namespaces,
            seen > generation,
            "what changed tells by its generation"
        );
        (generation, namespaces) = (seen, count);
    }
}

/// Takes the lease, starts a transaction that is never committed, and waits to be killed.
fn hold(path: &Path) {
    let store = Store::open(path).unwrap();
    let lease = store.write_lease("malha index", WAIT).unwrap();
    let transaction = lease.transaction().unwrap();
    transaction
        .namespace(&Namespace::new("half-done").unwrap())
        .unwrap();
    std::fs::write(path.with_extension("held"), "").unwrap();
    std::thread::sleep(WAIT);
    drop(transaction);
}

fn new_store(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("malha.db");
    drop(Store::create_or_open(&path).unwrap());
    path
}

#[test]
fn all_finish() {
    let folder = tempfile::tempdir().unwrap();
    let path = new_store(&folder);
    let mut children: Vec<Child> = (0..WRITERS)
        .map(|number| start(&format!("write {number}"), &path))
        .collect();
    children.extend((0..READERS).map(|_| start("read x", &path)));
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let store = Store::open(&path).unwrap();
    assert_eq!(store.namespaces().unwrap().len(), 1 + WRITERS * ROUNDS);
    assert_eq!(store.verify().unwrap().violations, []);
}

#[test]
fn a_killed_writer_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = new_store(&folder);
    let mut holder = start("hold x", &path);
    let held = path.with_extension("held");
    let started = Instant::now();
    while !held.exists() {
        assert!(started.elapsed() < WAIT, "the child never took the lease");
        std::thread::sleep(Duration::from_millis(5));
    }
    let store = Store::open(&path).unwrap();
    let busy = store
        .write_lease("malha import", Duration::from_millis(30))
        .unwrap_err();
    let Error::Busy { holder: text } = &busy else {
        panic!("{busy:?}")
    };
    assert!(text.contains("malha index"), "{text}");
    assert!(text.contains(&holder.id().to_string()), "{text}");
    assert!(!busy.to_string().contains("locked"));
    assert_eq!(
        Store::open_read_only(&path).unwrap().namespaces().unwrap(),
        ["default"],
        "readers read on, and see nothing half done"
    );
    holder.kill().unwrap();
    holder.wait().unwrap();
    let lease = store.write_lease("malha import", WAIT).unwrap();
    let transaction = lease.transaction().unwrap();
    transaction
        .namespace(&Namespace::new("after").unwrap())
        .unwrap();
    transaction.commit().unwrap();
    assert_eq!(store.namespaces().unwrap(), ["after", "default"]);
    assert_eq!(
        store
            .condition()
            .unwrap()
            .writer
            .as_deref()
            .map(|w| w.contains("malha import")),
        Some(true)
    );
}
