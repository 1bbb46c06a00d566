"""Files: small ones read at once, writes that are whole or not there at all."""

from collections.abc import Awaitable, Mapping
from pathlib import Path

from attrs import frozen
from zope.interface import Interface

DEFAULT_FILE_MODE = 0o640
DEFAULT_DIRECTORY_MODE = 0o750


@frozen
class FileStat:
    """What is known of a file without opening it; two stats that compare equal mean an unchanged file."""

    size: int
    mode: int  # permission bits only
    mtime: float  # seconds since the epoch
    inode: int
    is_directory: bool = False


class IFiles(Interface):
    """The file system as the programs see it. Everything raises OSError, with the operating system's own errno."""

    def write_atomic(path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> Awaitable[None]:
        """Replace or create a file; done once it is on the disk (unless `sync` is false).

        A reader sees the old content or the new, never a part; a failure leaves the old file and nothing else.
        Of several writes under way to one path, the one asked for last is the one that stays.
        """

    def write_many(files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> Awaitable[None]:
        """Replace or create many files, each as `write_atomic` does, with one directory sync for all of a directory.

        When one of them cannot be written, none is replaced.
        """

    def read(path: Path, limit: int) -> bytes:
        """The whole content. @raise OSError: EFBIG, the file is larger than `limit` bytes."""

    def exists(path: Path) -> bool:
        """Whether there is a file or directory of that name."""

    def listdir(path: Path) -> list[str]:
        """The names in a directory, sorted, temporary files of writes under way left out."""

    def remove(path: Path) -> None:
        """Remove one file."""

    def rmdir(path: Path) -> None:
        """Remove one empty directory."""

    def rename(source: Path, target: Path) -> None:
        """Move a file over whatever is at the target; directories missing on the way are created."""

    def mkdir(path: Path, mode: int = DEFAULT_DIRECTORY_MODE) -> None:
        """Create a directory and its missing parents, exactly with that mode; one that exists is left as it is."""

    def stat(path: Path) -> FileStat:
        """Size, mode, modification time and inode; links are followed."""

    def set_mode(path: Path, mode: int) -> None:
        """Change the permission bits."""

    def set_owner(path: Path, uid: int, gid: int) -> None:
        """Change the owner."""
