"""Whether a node's secrets, and the directories that they are in, are open to more users than they should be."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from attrs import frozen

from ganeti_tx.model.node_files import DATA, FILES
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, USERS, mode_of

#: Bits of the group and of all others; of these others alone; and the one that lets them into a directory.
OF_GROUP_AND_OTHERS, OF_OTHERS, OTHERS_ENTER = 0o077, 0o007, 0o001
SECRETS = tuple(file.path for file in FILES if file.secret and not file.is_family)
DIRECTORIES = tuple(path for path in DIRECTORY_MODES if Path(path).is_relative_to(DATA))

#: The ids of the daemons' users by name; None where all files of the node are one user's.
Users = Callable[[], Mapping[str, int] | None]


@frozen
class PathChecks:
    """Modes that are stricter than they should be are no fault here: a daemon that cannot read its file says so itself."""

    files: IFiles
    users: Users

    async def faults(self, argument: object) -> list[str]:
        """Of each path that is open, or somebody else's, how it is and should be."""
        users = self.users()
        if users is None:
            return []
        return [fault for path in (*DIRECTORIES, *SECRETS) for fault in self._of(path, users)]

    def _of(self, path: str, users: Mapping[str, int]) -> Iterator[str]:
        wanted = mode_of(path)
        try:
            found = self.files.stat(Path(path))
        except FileNotFoundError:  # not every node has every file
            return
        if wanted is None:
            return
        if found.mode & self._counting(Path(path)) & ~wanted.mode:
            yield f"{path} has mode {found.mode:04o}, not {wanted.mode:04o}"
        owner = USERS[wanted.owner]
        if found.uid not in (0, users[owner]):
            yield f"{path} belongs to the user with id {found.uid}, not to {owner}"

    def _counting(self, path: Path) -> int:
        """Bits that open a path: what others may do with it is nothing while they cannot enter its directory."""
        closed = not self.files.stat(path.parent).mode & OTHERS_ENTER
        return OF_GROUP_AND_OTHERS & ~OF_OTHERS if closed else OF_GROUP_AND_OTHERS
