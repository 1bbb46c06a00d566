"""The files of hypervisors and of the administrator's list, as they go to the nodes with the keys."""

from collections.abc import Iterator

from attrs import frozen

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.listed_files import MAX_FILE, MAX_TOGETHER, MOST_FILES, files_of_hypervisors, listed, path_fault
from ganeti_tx.model.node_files import DISTRIBUTED_FILES
from ganeti_tx.rpc.calls.cluster import WriteListedFile
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

MAX_LIST = 256 * 1024


@frozen
class ListedFiles:
    """What is sent, and one line for each file that cannot be."""

    calls: tuple[WriteListedFile, ...]
    faults: tuple[str, ...]


def read_listed_files(files: IFiles, paths: Paths, config: ConfigData) -> ListedFiles:
    """As they are on this node. What a hypervisor's parameter names need not be here; what is listed must."""
    calls: list[WriteListedFile] = []
    faults: list[str] = []
    optional = [path for path in files_of_hypervisors(config) if files.exists(paths.root / path.lstrip("/"))]
    wanted = list(dict.fromkeys([*optional, *_list(files, paths, faults)]))
    if len(wanted) > MOST_FILES:
        faults.append(
            f"{paths.of(DISTRIBUTED_FILES)}: {len(wanted)} files are more than {MOST_FILES}; the rest is left"
        )
    room = MAX_TOGETHER
    for path in wanted[:MOST_FILES]:
        try:
            calls.append(_read(files, paths, path, room))
            room -= len(calls[-1].data)
        except (OSError, ValueError) as error:
            faults.append(f"file {path} is not sent: {getattr(error, 'strerror', None) or error}")
    return ListedFiles(tuple(calls), tuple(faults))


def _list(files: IFiles, paths: Paths, faults: list[str]) -> Iterator[str]:
    path = paths.of(DISTRIBUTED_FILES)
    if files.exists(path):
        try:
            yield from listed(files.read(path, MAX_LIST).decode())
        except (OSError, ValueError) as error:
            faults.append(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")


def _read(files: IFiles, paths: Paths, path: str, room: int) -> WriteListedFile:
    """@param room: bytes that are left. @raise ValueError: it is none that may be sent. @raise OSError: it cannot be read."""
    if fault := path_fault(path):
        raise ValueError(fault)
    here = paths.root / path.lstrip("/")
    status = files.stat(here)
    if status.is_directory:
        raise ValueError("it is a directory")
    if status.size > MAX_FILE:
        raise ValueError(f"it has {status.size} bytes, more than {MAX_FILE}")
    if status.size > room:
        raise ValueError(f"all files together have more than {MAX_TOGETHER} bytes")
    return WriteListedFile(path=path, data=files.read(here, MAX_FILE), mode=status.mode & 0o777)
