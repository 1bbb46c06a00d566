"""This machine's SSH keys: where they are and what makes them. Private ones are never read."""

from collections.abc import Sequence
from pathlib import Path

from ganeti_tx.model.ssh_keys import MAX_HOST_KEYS, public_key
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

PROGRAM = "ssh-keygen"
#: A key of 16384 bits may take its time.
KEYGEN_LIMIT = 120.0
MAX_PUBLIC_KEY = 16 * 1024


def host_keys(files: IFiles, paths: Paths) -> list[str]:
    """The public keys of the SSH daemon, without comments; none where there is no such daemon."""
    directory = paths.ssh_config_dir
    names = files.listdir(directory) if files.exists(directory) else []
    wanted = [name for name in names if name.startswith("ssh_host_") and name.endswith("_key.pub")]
    found = [_public(files, directory / name) for name in wanted[:MAX_HOST_KEYS]]
    return [key for key in found if key is not None]


def root_key_file(paths: Paths, kind: str) -> Path:
    """Root's private key of a type."""
    return paths.root_ssh_dir / f"id_{kind}"


def root_public_key(files: IFiles, paths: Paths, kind: str) -> str | None:
    """The public half of a key of root's that is there whole."""
    private = root_key_file(paths, kind)
    public = private.with_name(f"{private.name}.pub")
    return _public(files, public) if files.exists(private) and files.exists(public) else None


def keygen_argv(files: IFiles, paths: Paths, kind: str, bits: int, node: str) -> Sequence[str]:
    """What makes root's key; of a private one that is there, what tells its public half. Root's directory is made."""
    private = root_key_file(paths, kind)
    if files.exists(private):
        return (PROGRAM, "-y", "-P", "", "-f", str(private))
    files.mkdir(paths.root_ssh_dir, 0o700)
    return (PROGRAM, "-q", "-t", kind, "-b", str(bits), "-N", "", "-C", f"root@{node}", "-f", str(private))


def next_key_file(paths: Paths, kind: str) -> Path:
    """A private key that root is going to have."""
    own = root_key_file(paths, kind)
    return own.with_name(f"{own.name}.ganeti-next")


def new_key_argv(paths: Paths, kind: str, bits: int, node: str) -> Sequence[str]:
    """What makes it; nothing may be there."""
    private = next_key_file(paths, kind)
    return (PROGRAM, "-q", "-t", kind, "-b", str(bits), "-N", "", "-C", f"root@{node}", "-f", str(private))


def public_file(private: Path) -> Path:
    """Where the public half of a key is."""
    return private.with_name(f"{private.name}.pub")


def next_public_key(files: IFiles, paths: Paths, kind: str) -> str | None:
    """The public half of a key that root is going to have."""
    return _public(files, public_file(next_key_file(paths, kind)))


def _public(files: IFiles, path: Path) -> str | None:
    try:
        return public_key(files.read(path, MAX_PUBLIC_KEY).decode("ascii", "replace"))
    except OSError:
        return None
