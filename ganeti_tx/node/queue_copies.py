"""What a candidate does with its whole copy of the job queue: keep up with the archive, or forget it."""

import re
from collections.abc import Callable, Collection
from pathlib import Path

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

JOB_FILE = re.compile(r"job-([1-9][0-9]{0,18})")
QUEUE_FILE = re.compile(r"job-[0-9]{1,19}|drain|serial|version")


def sweep(files: IFiles, paths: Paths, is_live: Callable[[str, int], bool]) -> None:
    """Move the files of jobs that are not live, by name and number, to the archive."""
    for name in files.listdir(paths.queue_dir):
        match = JOB_FILE.fullmatch(name)
        if match is not None and not is_live(name, int(match[1])):
            files.rename(paths.queue_dir / name, paths.archived_job_file(int(match[1])))


def purge(files: IFiles, paths: Paths, newer: Collection[str]) -> None:
    """Remove every file of the queue, archived and damaged ones too; what is not the queue's, or newer, stays."""
    archive = paths.queue_archive_dir
    for name in files.listdir(archive) if files.exists(archive) else ():
        if name.isascii() and name.isdigit():
            _empty(files, archive / name, newer, keep_directory=False)
    _empty(files, paths.queue_lost_dir, newer, keep_directory=False, everything=True)
    _empty(files, paths.queue_dir, newer, keep_directory=True)


def _empty(
    files: IFiles, directory: Path, newer: Collection[str], *, keep_directory: bool, everything: bool = False
) -> None:
    if not files.exists(directory):
        return
    for name in files.listdir(directory):
        if name in newer:
            continue
        path = directory / name
        if (everything or QUEUE_FILE.fullmatch(name)) and not files.stat(path).is_directory:
            files.remove(path)
    if not keep_directory and not files.listdir(directory):
        files.rmdir(directory)
