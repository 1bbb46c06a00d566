"""The archived jobs' files as they lie in their directories, a fixed range of ids in each."""

from collections.abc import Iterator

from attrs import frozen

from ganeti_tx.queue.files.job_file import job_number
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import JOBS_PER_ARCHIVE_DIRECTORY, Paths


@frozen
class Archive:
    """Lists the archive; a name that does not belong where it lies is no archived job."""

    files: IFiles
    paths: Paths

    def directories(self) -> list[int]:
        """The numbers of the directories, lowest first."""
        base = self.paths.queue_archive_dir
        names = self.files.listdir(base) if self.files.exists(base) else []
        return sorted(int(name) for name in names if self._is_directory(name))

    def _is_directory(self, name: str) -> bool:
        canonical = name.isascii() and name.isdigit() and len(name) < 20 and str(int(name)) == name
        return canonical and self.files.stat(self.paths.queue_archive_dir / name).is_directory

    def ids_in(self, directory: int) -> list[int]:
        """The jobs of one directory, lowest first."""
        names = self.files.listdir(self.paths.queue_archive_dir / str(directory))
        numbers = (job_number(name) for name in names)
        return sorted(id for id in numbers if id is not None and id // JOBS_PER_ARCHIVE_DIRECTORY == directory)

    def ids(self) -> Iterator[int]:
        """Every archived job, lowest first."""
        for directory in self.directories():
            yield from self.ids_in(directory)

    def highest(self) -> int:
        """The newest archived job, found without walking the archive; 0 without one."""
        for directory in reversed(self.directories()):
            if ids := self.ids_in(directory):
                return ids[-1]
        return 0

    def foreign(self) -> Iterator[str]:
        """Names that are no archived jobs, relative to the queue's directory."""
        base = self.paths.queue_archive_dir
        for name in self.files.listdir(base) if self.files.exists(base) else ():
            if not self._is_directory(name):
                yield f"{base.name}/{name}"
                continue
            for inner in self.files.listdir(base / name):
                number = job_number(inner)
                if number is None or number // JOBS_PER_ARCHIVE_DIRECTORY != int(name):
                    yield f"{base.name}/{name}/{inner}"
