//! Files and folders that appear whole or not at all.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::partial::{LOCK, former_name, formers, partial_name, remove_leftovers};
use crate::{Error, Result};

/// The file that says that a folder is an export; written last.
const MANIFEST: &str = "malha-export.json";
/// What Obsidian keeps of its own in a vault; it moves along when the vault is exported again.
const OBSIDIAN: &str = ".obsidian";

/// A destination of text and bytes whose errors name it.
pub(super) struct Out<'a> {
    path: PathBuf,
    writer: Box<dyn Write + 'a>,
    written: u64,
}

impl<'a> Out<'a> {
    /// `path` is what errors call `writer`.
    pub(super) fn new(path: &Path, writer: impl Write + 'a) -> Self {
        Self {
            path: path.to_owned(),
            writer: Box::new(BufWriter::with_capacity(1 << 16, writer)),
            written: 0,
        }
    }

    pub(super) fn text(&mut self, text: &str) -> Result<()> {
        self.bytes(text.as_bytes())
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        self.writer
            .write_all(bytes)
            .map_err(|error| io_error(&self.path, error))
    }

    /// What `write!` and `writeln!` call.
    pub(super) fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> Result<()> {
        match arguments.as_str() {
            Some(text) => self.text(text),
            None => self.text(&arguments.to_string()),
        }
    }

    /// Number of bytes so far.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        self.writer
            .flush()
            .map_err(|error| io_error(&self.path, error))
    }
}

/// For writers that do not know this type. Its own methods name the destination in their errors.
impl Write for Out<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn io_error(path: &Path, source: io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        source,
    }
}

/// Writes `path` by way of a file beside it, so that whoever reads sees the old one or all of the new.
pub(super) fn write_file<T>(
    path: &Path,
    write: impl FnOnce(&mut Out<'_>) -> Result<T>,
) -> Result<T> {
    if path.is_dir() {
        return Err(Error::Usage(format!(
            "{}: there is a folder of this name; name a file",
            path.display()
        )));
    }
    let partial = partial_name(path)?;
    remove_leftovers(path);
    let written = (|| {
        let file = File::create(&partial).map_err(|error| io_error(&partial, error))?;
        // Says that this process lives. A file system without locks does without.
        let _ = file.try_lock();
        let sync = file
            .try_clone()
            .map_err(|error| io_error(&partial, error))?;
        let mut out = Out::new(path, file);
        let result = write(&mut out)?;
        out.flush()?;
        sync.sync_all().map_err(|error| io_error(path, error))?;
        fs::rename(&partial, path).map_err(|error| io_error(path, error))?;
        Ok(result)
    })();
    if written.is_err() {
        // Nothing but our own half is lost here.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// A folder under its temporary name.
pub(super) struct Folder {
    path: PathBuf,
    files: u64,
}

impl Folder {
    /// Makes the file `name`, which may be in a sub-folder. Two files of one name are a mistake of ours.
    pub(super) fn file(&mut self, name: &str) -> Result<Out<'static>> {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| io_error(parent, error))?;
        }
        let file = File::create_new(&path).map_err(|error| io_error(&path, error))?;
        self.files += 1;
        Ok(Out::new(&path, file))
    }

    pub(super) fn write(&mut self, name: &str, text: &str) -> Result<()> {
        let mut out = self.file(name)?;
        out.text(text)?;
        out.flush()
    }
}

/// Makes the folder `path` hold exactly what `write` writes. A folder that is there already must be
/// empty or a former export in which nobody has added or changed a file.
pub(super) fn write_folder<T>(
    path: &Path,
    format: &str,
    write: impl FnOnce(&mut Folder) -> Result<T>,
) -> Result<T> {
    let partial = partial_name(path)?;
    remove_leftovers(path);
    take_back(path)?;
    let former = check_former(path)?;
    fs::create_dir_all(&partial).map_err(|error| io_error(&partial, error))?;
    let living = partial.join(LOCK);
    let lock = File::create(&living).map_err(|error| io_error(&living, error))?;
    // As above.
    let _ = lock.try_lock();
    let mut folder = Folder {
        path: partial.clone(),
        files: 0,
    };
    let written = write(&mut folder).and_then(|result| {
        let manifest = json!({ "malha_export": format, "version": 1, "files": folder.files });
        folder.write(MANIFEST, &format!("{manifest}\n"))?;
        fs::remove_file(&living).map_err(|error| io_error(&living, error))?;
        drop(lock);
        replace(path, &partial, former)?;
        Ok(result)
    });
    if written.is_err() {
        // Nothing but our own half is lost here.
        let _ = fs::remove_dir_all(&partial);
    }
    written
}

/// What was at the place of a folder that is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Former {
    Nothing,
    Empty,
    Export,
}

fn check_former(path: &Path) -> Result<Former> {
    let refuse = |reason: String| Error::Usage(format!("{}: {reason}", path.display()));
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Former::Nothing),
        Err(error) => return Err(io_error(path, error)),
    };
    if entries.count() == 0 {
        return Ok(Former::Empty);
    }
    let name = path.join(MANIFEST);
    let manifest: Value = fs::read_to_string(&name)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let Some(files) = manifest["files"].as_u64() else {
        return Err(refuse(
            "the folder is not empty and holds no export; name another one".to_owned(),
        ));
    };
    let changed_at = |path: &Path| {
        fs::metadata(path)
            .and_then(|meta| meta.modified())
            .map_err(|error| io_error(path, error))
    };
    let written_at = changed_at(&name)?;
    let mut found = 0;
    for_each_file(path, &mut |file| {
        if file == name {
            return Ok(());
        }
        found += 1;
        if changed_at(file)? > written_at + MANIFEST_GRACE {
            return Err(refuse(format!(
                "{} was changed since it was exported; move what you want to keep, or name \
                 another folder",
                file.display()
            )));
        }
        Ok(())
    })?;
    if found != files {
        return Err(refuse(format!(
            "it held {files} files when it was exported and holds {found} now; move what you \
             want to keep, or name another folder"
        )));
    }
    Ok(Former::Export)
}

/// Coarse clocks of file systems: the manifest may look older than a file that was written before it.
const MANIFEST_GRACE: std::time::Duration = std::time::Duration::from_millis(20);

fn for_each_file(folder: &Path, each: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(|error| io_error(folder, error))? {
        let path = entry.map_err(|error| io_error(folder, error))?.path();
        if path.file_name().is_some_and(|name| name == OBSIDIAN) {
            continue;
        }
        if path.is_dir() {
            for_each_file(&path, each)?;
        } else {
            each(&path)?;
        }
    }
    Ok(())
}

fn replace(path: &Path, partial: &Path, former: Former) -> Result<()> {
    match former {
        Former::Nothing => fs::rename(partial, path).map_err(|error| io_error(path, error)),
        Former::Empty => {
            fs::remove_dir(path).map_err(|error| io_error(path, error))?;
            fs::rename(partial, path).map_err(|error| io_error(path, error))
        }
        Former::Export => {
            let old = former_name(path)?;
            fs::rename(path, &old).map_err(|error| io_error(path, error))?;
            if let Err(error) = fs::rename(partial, path) {
                return Err(put_back(path, &old, error));
            }
            keep_obsidian(&old, path)?;
            remove_folder(&old)
        }
    }
}

/// Moves what Obsidian keeps along, where the new export has none of its own.
fn keep_obsidian(old: &Path, new: &Path) -> Result<()> {
    let (from, to) = (old.join(OBSIDIAN), new.join(OBSIDIAN));
    if from.is_dir() && !to.exists() {
        fs::rename(from, to).map_err(|error| io_error(old, error))?;
    }
    Ok(())
}

/// Where a process was killed between moving the former export away and putting the new one in its place, the former
/// one is put back; where it was killed just after, it is removed.
fn take_back(path: &Path) -> Result<()> {
    for old in formers(path) {
        if !old.join(MANIFEST).is_file() {
            continue;
        }
        if path.exists() {
            keep_obsidian(&old, path)?;
            remove_folder(&old)?;
        } else {
            fs::rename(&old, path).map_err(|error| io_error(&old, error))?;
        }
    }
    Ok(())
}

/// The former export is better than none; where it cannot be put back either, the error says where it lies.
fn put_back(path: &Path, old: &Path, error: io::Error) -> Error {
    match fs::rename(old, path) {
        Ok(()) => io_error(path, error),
        Err(again) => {
            let message = format!(
                "{error}; the former export could not be put back ({again}) and lies at {}",
                old.display()
            );
            io_error(path, io::Error::new(error.kind(), message))
        }
    }
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn export(path: &Path, files: &[(&str, &str)]) -> Result<()> {
        write_folder(path, "test", |folder| {
            for (name, text) in files {
                folder.write(name, text)?;
            }
            Ok(())
        })
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for_each_file(path, &mut |file| {
            let name = file.strip_prefix(path).unwrap();
            names.push(name.to_string_lossy().into_owned());
            Ok(())
        })
        .unwrap();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_replaced_only_when_it_is_an_untouched_export() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("vault");
        export(&path, &[("a.md", "1"), ("b/c.md", "2")]).unwrap();
        assert_eq!(names(&path), ["a.md", "b/c.md", MANIFEST]);
        fs::create_dir(path.join(OBSIDIAN)).unwrap();
        fs::write(path.join(OBSIDIAN).join("app.json"), "{}").unwrap();
        export(&path, &[("a.md", "3")]).unwrap();
        assert_eq!(names(&path), ["a.md", MANIFEST]);
        assert_eq!(fs::read_to_string(path.join("a.md")).unwrap(), "3");
        assert!(path.join(OBSIDIAN).join("app.json").is_file(), "kept");

        fs::write(path.join("mine.md"), "mine").unwrap();
        assert!(matches!(export(&path, &[]), Err(Error::Usage(_))));
        assert_eq!(fs::read_to_string(path.join("mine.md")).unwrap(), "mine");
        fs::remove_file(path.join("mine.md")).unwrap();
        let later = SystemTime::now() + std::time::Duration::from_secs(9);
        let file = File::options()
            .append(true)
            .open(path.join("a.md"))
            .unwrap();
        file.set_modified(later).unwrap();
        let error = export(&path, &[]).unwrap_err().to_string();
        assert!(error.contains("a.md was changed"), "{error}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no rests");
    }

    #[test]
    fn what_a_killed_export_left_is_removed_by_the_next() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let is_old = |name: &str| {
            let long_ago = SystemTime::now() - std::time::Duration::from_hours(1);
            let file = File::open(at(name)).unwrap();
            file.set_modified(long_ago).unwrap();
        };
        for name in [
            "vault.1-a.partial",
            "vault.22-b.partial",
            "vault.3-c.partial",
        ] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join(LOCK), "").unwrap();
            fs::write(at(name).join("half"), "h").unwrap();
        }
        fs::write(at("graph.xml.333-f.partial"), "half").unwrap();
        // One of a process that lives holds its lock; another one has only begun.
        let lock = File::create(at("vault.22-b.partial").join(LOCK)).unwrap();
        lock.try_lock().unwrap();
        for name in [
            "vault.1-a.partial",
            "vault.22-b.partial",
            "graph.xml.333-f.partial",
        ] {
            is_old(name);
        }
        let others = [
            "vault.1.partial",
            "vault.x-1.partial",
            "vault2.1-a.partial",
            "vault.1-a.partial.txt",
        ];
        for other in others {
            fs::write(at(other), "mine").unwrap();
            is_old(other);
        }
        fs::create_dir(at("vault.old")).unwrap();
        fs::write(at("vault.old").join("letter"), "mine").unwrap();
        export(&at("vault"), &[("a", "1")]).unwrap();
        export(&at("vault"), &[("a", "2")]).unwrap();
        write_file(&at("graph.xml"), |out| out.text("x")).unwrap();
        let mut left: Vec<String> = fs::read_dir(home.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        let mut expected = [&others[..], &["graph.xml", "vault", "vault.old"]].concat();
        expected.extend(["vault.22-b.partial", "vault.3-c.partial"]);
        expected.sort_unstable();
        assert_eq!(left, expected);
        assert_eq!(names(&at("vault.old")), ["letter"]);

        // Killed while the new one took its place: what was there before is there again, with what Obsidian keeps.
        let former = former_name(&at("vault")).unwrap();
        fs::rename(at("vault"), &former).unwrap();
        fs::create_dir(former.join(OBSIDIAN)).unwrap();
        export(&at("vault"), &[("b", "2")]).unwrap();
        assert_eq!(names(&at("vault")), ["b", MANIFEST]);
        assert!(at("vault").join(OBSIDIAN).is_dir() && !former.exists());
    }

    #[test]
    fn what_is_not_ours_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("docs");
        fs::create_dir(&path).unwrap();
        export(&path, &[("a", "")]).unwrap();
        let other = home.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("letter.txt"), "mine").unwrap();
        assert!(matches!(export(&other, &[]), Err(Error::Usage(_))));
        assert_eq!(names(&other), ["letter.txt"]);
        assert!(matches!(export(Path::new("/"), &[]), Err(Error::Usage(_))));
    }

    #[test]
    fn a_former_export_that_cannot_be_put_back_is_named() {
        let home = tempfile::tempdir().unwrap();
        let (path, old) = (home.path().join("vault"), home.path().join("vault.old"));
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let error = put_back(&path, &old, denied()).to_string();
        assert!(error.contains("vault.old"), "{error}");
        fs::create_dir(&old).unwrap();
        let error = put_back(&path, &old, denied()).to_string();
        assert!(!error.contains("vault.old") && path.is_dir(), "{error}");
    }

    #[test]
    fn a_failed_export_leaves_the_former_one() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("graph.xml");
        fs::write(&path, "before").unwrap();
        let failed = write_file(&path, |out| {
            out.text("half")?;
            Err::<(), _>(Error::Interrupted)
        });
        assert!(matches!(failed, Err(Error::Interrupted)));
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
        write_file(&path, |out| writeln!(out, "{}", 7)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "7\n");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
