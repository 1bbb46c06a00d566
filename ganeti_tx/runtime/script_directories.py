"""Directories with scripts that sites add (OS definitions, storage providers): where they are, and what is read of them."""

import errno
import stat
from collections.abc import Iterator
from pathlib import Path

from ganeti_tx.runtime.files import IFiles

#: Size limit in bytes of each text file.
TEXT_LIMIT = 1 << 16


class Unusable(Exception):
    """A directory is not what it should be; the text says why. Never leaves the package that reads it."""


def candidates(files: IFiles, search_path: tuple[Path, ...]) -> Iterator[Path]:
    """All directories in those of a search path; the first of a name counts."""
    for directory in search_path:
        try:
            names = files.listdir(directory)
        except OSError:  # not every directory of the path need be there
            continue
        yield from (directory / name for name in names if is_directory(files, directory / name))


def is_directory(files: IFiles, path: Path) -> bool:
    """Whether there is one; a link that leads nowhere is none."""
    try:
        return files.stat(path).is_directory
    except OSError:
        return False


def text_lines(files: IFiles, path: Path) -> list[str]:
    """The lines of a text file that are not blank. @raise Unusable: it cannot be read."""
    try:
        text = files.read(path, TEXT_LIMIT).decode("utf-8")
    except OSError as error:
        raise Unusable(f"file {path.name} {_why(error)}")
    except UnicodeDecodeError:
        raise Unusable(f"file {path.name} is not UTF-8 text")
    return [line.strip() for line in text.splitlines() if line.strip()]


def described_names(files: IFiles, path: Path) -> tuple[tuple[str, str], ...]:
    """Names, each with what it means: NAME HELP a line. @raise Unusable: the file cannot be read."""
    pairs = (line.partition(" ") for line in text_lines(files, path))
    return tuple((name, text.strip()) for name, _space, text in pairs)


def check_script(files: IFiles, path: Path) -> None:
    """@raise Unusable: there is no script that its owner may run."""
    try:
        status = files.stat(path)
    except OSError as error:
        raise Unusable(f"script {path.name} {_why(error)}")
    if status.is_directory or not status.mode & stat.S_IXUSR:
        raise Unusable(f"script {path.name} is not executable by its owner")


def _why(error: OSError) -> str:
    return "is missing" if error.errno == errno.ENOENT else f"cannot be read: {error.strerror}"
