"""The key of a merge among root's authorized keys: one marked line, so that all others stay as they are.

Who kills a merge leaves the line; sshd heeds it no more when the longest merge would be over.
"""

import time

from ganeti_tx.runtime.authorized_keys import DIRECTORY_MODE, MAX_AUTHORIZED_KEYS, MODE
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths

#: Seconds for which the key is let in: longer than a merge waits for jobs and instances.
LIFE = 3 * 86400.0
#: Ends the line.
MARK = b"(cluster-merge)"


def admitted(present: bytes, key: str | None, now: float) -> bytes:
    """The file that lets in this key for LIFE and none of an earlier merge."""
    lines = [line for line in present.splitlines(keepends=True) if not line.rstrip().endswith(MARK)]
    if key is None:
        return b"".join(lines)
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    return b"".join((*lines, until(now + LIFE) + key.encode() + b" " + MARK + b"\n"))


def until(end: float) -> bytes:
    """The option of a line that counts until then; sshd reads it in this node's time zone."""
    return time.strftime('expiry-time="%Y%m%d%H%M%S" ', time.localtime(end)).encode()


def let_in(paths: Paths, key: str | None) -> None:
    """Let in who has the key; nobody by None. @raise OSError: as IFiles.write_atomic."""
    path = paths.root_authorized_keys
    present = read_authorized(paths)
    wanted = admitted(present, key, time.time())
    if wanted != present:
        path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        replace_file(path, wanted, MODE)


def read_authorized(paths: Paths) -> bytes:
    """The file; nothing when there is none. @raise OSError"""
    try:
        with paths.root_authorized_keys.open("rb") as file:
            return file.read(MAX_AUTHORIZED_KEYS)
    except FileNotFoundError:
        return b""
