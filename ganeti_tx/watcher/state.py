"""What the watcher remembers of a node group from run to run. The file may be removed: then counting begins anew."""

from pathlib import Path

import msgspec

from ganeti_tx.model.node_files import WATCHER_STATE
from ganeti_tx.runtime.files_replace import replace_file

MAX_FILE = 16 * 1024 * 1024


class Tries(msgspec.Struct, frozen=True, kw_only=True):
    """How often an instance was started since it was last seen running; `last` in seconds since the epoch."""

    count: int
    last: float
    #: The job of the last try.
    job: int | None = None


class GroupState(msgspec.Struct, frozen=True, kw_only=True):
    """Tries by instance; the jobs for instances whose users have shut them down; by node the boot in which it was seen last.

    Whether all volume groups were whole at the last look; None when that is not known.
    """

    instances: dict[str, Tries] = {}
    shutdowns: dict[str, int] = {}
    boots: dict[str, str] = {}
    volume_groups_whole: bool | None = None


def load(path: Path) -> GroupState:
    """What was kept; nothing when there is no file, or none that can be read."""
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(MAX_FILE), type=GroupState)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return GroupState()


def save(path: Path, state: GroupState) -> None:
    """@raise OSError: it cannot be kept."""
    replace_file(path, msgspec.json.encode(state) + b"\n", WATCHER_STATE.mode)
