"""Where files of the queue go that cannot be what their names say; nothing is thrown away, and nobody reads them again."""

from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.queue.files.job_file import job_number
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

log = Logger()

DIRECTORY_MODE = 0o750


@frozen
class LostAndFound:
    """The directory lost+found of the queue, in which a name that is taken gets a number."""

    files: IFiles
    paths: Paths

    def set_aside(self, path: Path, reason: object) -> None:
        """Move a file or directory here; if that cannot be, it stays where it is. Either is said in the log."""
        target = self._free_name(path.name)
        try:
            self.files.mkdir(self.paths.queue_lost_dir, DIRECTORY_MODE)
            self.files.rename(path, target)
        except OSError as error:
            why = error.strerror or error
            log.error("{path} is at fault ({reason}) and stays there: {why}", path=str(path), reason=reason, why=why)
        else:
            log.error("{path} was moved to {to}: {reason}", path=str(path), to=str(target), reason=reason)

    def _free_name(self, name: str) -> Path:
        target, number = self.paths.queue_lost_dir / name, 0
        while self.files.exists(target):
            number += 1
            target = self.paths.queue_lost_dir / f"{name}.{number}"
        return target

    def names(self) -> list[str]:
        """What lies here."""
        directory = self.paths.queue_lost_dir
        return self.files.listdir(directory) if self.files.exists(directory) else []

    def job_ids(self) -> Iterator[int]:
        """The numbers of the job files here."""
        for name in self.names():
            number = job_number(name.partition(".")[0])
            if number is not None:
                yield number
