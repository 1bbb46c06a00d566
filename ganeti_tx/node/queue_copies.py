"""What a candidate does with its whole copy of the job queue: keep up with the archive, or forget it."""

import re
from collections.abc import Callable, Collection
from itertools import chain, count
from pathlib import Path

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

JOB_FILE = re.compile(r"job-([1-9][0-9]{0,18})")
QUEUE_FILE = re.compile(r"job-[0-9]{1,19}|drain|serial|version")


def sweep(files: IFiles, paths: Paths, live: Collection[int], up_to: int) -> set[Path]:
    """Move the files of jobs up to a number that are not live any more to the archive; gives the directories there."""
    into = set()
    for number in jobs_in(files, paths.queue_dir):
        if number <= up_to and number not in live:
            files.rename(paths.job_file(number), paths.archived_job_file(number))
            into.add(paths.archived_job_file(number).parent)
    return into


def set_aside(files: IFiles, paths: Paths, is_foreign: Callable[[int], bool], above: int) -> list[int]:
    """Move the files of jobs above a number that are none of the master's, live and archived ones, to lost+found.

    Their numbers, which are given, will be other jobs'.
    """
    archives = (int(name) for name in listed(files, paths.queue_archive_dir) if name.isascii() and name.isdigit())
    first = paths.archived_job_file(above).parent.name
    directories = [paths.queue_archive_dir / str(number) for number in archives if number >= int(first)]
    found = []
    for directory in [paths.queue_dir, *directories]:
        for number in jobs_in(files, directory):
            if number > above and is_foreign(number):
                found.append(number)
                files.rename(directory / f"job-{number}", free_name(files, paths.queue_lost_dir / f"job-{number}"))
    return sorted(found)


def free_name(files: IFiles, wanted: Path) -> Path:
    """The name, or with a number behind it."""
    names = chain([wanted], (wanted.with_name(f"{wanted.name}.{number}") for number in count(1)))
    return next(name for name in names if not files.exists(name))


def jobs_in(files: IFiles, directory: Path) -> list[int]:
    """The numbers of the job files in a directory."""
    matches = (JOB_FILE.fullmatch(name) for name in listed(files, directory))
    return [int(match[1]) for match in matches if match is not None]


def listed(files: IFiles, directory: Path) -> list[str]:
    """The names in a directory, if it is there."""
    return list(files.listdir(directory)) if files.exists(directory) else []


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
