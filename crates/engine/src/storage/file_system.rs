//! Refuses file systems on which locks between machines cannot be trusted.

use std::path::Path;

use super::StoreOptions;
use super::store::store_error;
use crate::Result;

/// File-system types (as the kernel names them) that are served over a network or whose locks and
/// shared memory are not those of the local kernel.
const NETWORK_TYPES: &[&str] = &[
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "glusterfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "smb2",
    "smb3",
    "smbfs",
    "davfs",
];

/// Fails when `path` lies on a network file system. Where the mounts cannot be listed (there is no
/// `/proc`), nothing is refused.
pub(super) fn check(path: &Path, options: StoreOptions) -> Result<()> {
    if options.allow_network_file_system {
        return Ok(());
    }
    match type_of(path) {
        Some(kind) if is_network(&kind) => Err(store_error(
            path,
            &format!(
                "it lies on a network file system ({kind}), where two machines could write at \
                 once and damage it; put the store on a local disk, or allow it explicitly"
            ),
        )),
        _ => Ok(()),
    }
}

/// The type of the file system that holds `path`, if it can be known.
pub(super) fn type_of(path: &Path) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    // The file may not be there yet; its nearest existing ancestor decides.
    let absolute = std::path::absolute(path).ok()?;
    let existing = absolute.ancestors().find_map(|p| p.canonicalize().ok())?;
    mount_type(&mounts, &existing).map(str::to_owned)
}

fn is_network(kind: &str) -> bool {
    NETWORK_TYPES.contains(&kind)
}

/// The type of the deepest mount above `path`; of two at the same place the later one counts.
fn mount_type<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let mut fields = line.split(' ');
        let (Some(_device), Some(point), Some(kind)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let point = unescape(point);
        let depth = Path::new(&point).components().count();
        if path.starts_with(&point) && best.is_none_or(|(deepest, _)| depth >= deepest) {
            best = Some((depth, kind));
        }
    }
    best.map(|(_, kind)| kind)
}

/// Blanks, tabs, line breaks and backslashes are written as three octal digits.
fn unescape(field: &str) -> String {
    field
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
/dev/vda / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
tmpfs /home/local tmpfs rw 0 0
me@host: /mnt/my\\040notes fuse.sshfs rw 0 0
//nas/share /mnt/nas cifs rw 0 0
";

    #[test]
    fn the_deepest_mount_decides() {
        let check = |path: &str, kind: &str, network: bool| {
            let found = mount_type(MOUNTS, Path::new(path)).unwrap();
            assert_eq!((found, is_network(found)), (kind, network), "{path}");
        };
        check("/var/malha.db", "ext4", false);
        check("/home/ana/.malha/malha.db", "nfs4", true);
        check("/home/local/x.db", "tmpfs", false);
        check("/homework/x.db", "ext4", false);
        check("/mnt/my notes/x.db", "fuse.sshfs", true);
        check("/mnt/nas/x.db", "cifs", true);
    }
}
