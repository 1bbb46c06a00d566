"""What an administrator should look at in the job queue's directory."""

from collections.abc import Iterator

from ganeti_tx.queue.files.archive import Archive
from ganeti_tx.queue.files.loading import foreign_names
from ganeti_tx.queue.files.lost_found import LostAndFound
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: So many findings are told one by one.
MAX_FINDINGS = 20


def queue_faults(files: IFiles, paths: Paths) -> list[str]:
    """A sentence for each finding, the last one for all that are too many; no file is opened."""
    found = list(_faults(files, paths))
    more = len(found) - MAX_FINDINGS
    if more <= 0:
        return found
    return [*found[:MAX_FINDINGS], f"and {more} more in {paths.queue_dir}"]


def _faults(files: IFiles, paths: Paths) -> Iterator[str]:
    try:
        for name in LostAndFound(files, paths).names():
            yield (
                f"{paths.queue_lost_dir / name} was in the job queue and could not be read;"
                " see the master's log for the reason, and remove the file when nobody needs it"
            )
        for name in foreign_names(files.listdir(paths.queue_dir)):
            yield f"{paths.queue_dir / name} does not belong to the job queue"
        for name in Archive(files, paths).foreign():
            yield f"{paths.queue_dir / name} does not belong to the archive of the job queue"
    except OSError as error:
        yield f"the directory of the job queue {paths.queue_dir} cannot be read: {error.strerror or error}"
