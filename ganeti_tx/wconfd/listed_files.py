"""The files of hypervisors and of the administrator's list, as they go to the nodes with the keys."""

from collections.abc import Collection, Sequence

from attrs import frozen

from ganeti_tx.errors import error_text
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.listed_files import MAX_TOGETHER, MOST_FILES, files_of_hypervisors, parameter_fault
from ganeti_tx.model.node_files import DISTRIBUTED_FILES
from ganeti_tx.rpc.calls.cluster import ReadListedFile, WriteListedFile
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, RpcError, Target
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.listed_files import read_list, read_listed
from ganeti_tx.runtime.paths import Paths

#: Seconds for this node's own daemon to read a file.
READ_LIMIT = 60.0


@frozen
class ListedFiles:
    """What is sent, one line for each file that cannot be, and those that only root may read."""

    calls: tuple[WriteListedFile, ...]
    faults: tuple[str, ...]
    denied: tuple[str, ...] = ()


def read_listed_files(files: IFiles, paths: Paths, config: ConfigData) -> ListedFiles:
    """As they are on this node. What a hypervisor's parameter names need not be here; what is listed must."""
    calls: list[WriteListedFile] = []
    faults: list[str] = []
    denied: list[str] = []
    wanted = list(dict.fromkeys(_list(files, paths, faults)))
    wanted += _of_hypervisors(
        files, paths, {*files_of_hypervisors(config.cluster, config.instances.values())} - {*wanted}, faults
    )
    if len(wanted) > MOST_FILES:
        faults.append(
            f"{paths.of(DISTRIBUTED_FILES)}: {len(wanted)} files are more than {MOST_FILES}; the rest is left"
        )
    for path in wanted[:MOST_FILES]:
        try:
            data, mode = read_listed(files, paths, path, _room(calls))
            calls.append(WriteListedFile(path=path, data=data, mode=mode))
        except PermissionError:
            denied.append(path)
        except (OSError, ValueError) as error:
            faults.append(_fault(path, getattr(error, "strerror", None) or str(error)))
    return ListedFiles(tuple(calls), tuple(faults), tuple(denied))


async def with_denied(found: ListedFiles, rpc: INodeRpc, own: Target) -> ListedFiles:
    """With those that this daemon's user may not read, such as passwords: this node's daemon, which is root's, reads them."""
    calls, faults = list(found.calls), list(found.faults)
    for path in found.denied:
        try:
            file = await rpc.call(own, ReadListedFile(path=path, room=_room(calls)), READ_LIMIT)
        except NodeCallError as error:
            faults.append(_fault(path, error_text(error.cause)))
        except RpcError as error:
            faults.append(_fault(path, f"only root may read it, and {error}"))
        else:
            calls.append(WriteListedFile(path=path, data=file.data, mode=file.mode))
    return ListedFiles(tuple(calls), tuple(faults))


def _of_hypervisors(files: IFiles, paths: Paths, named: Collection[str], faults: list[str]) -> list[str]:
    """Of those that parameters alone name, the ones that are here and may be sent for that."""
    here = [path for path in sorted(named) if "\0" not in path and _may_be_there(files, paths, path)]
    refused = {path: fault for path in here if (fault := parameter_fault(path))}
    faults += [_fault(path, fault) for path, fault in [*refused.items()][:MOST_FILES]]
    return [path for path in here if path not in refused]


def _fault(path: str, why: str) -> str:
    return f"file {path} is not sent: {why}"


def _room(calls: Sequence[WriteListedFile]) -> int:
    return MAX_TOGETHER - sum(len(call.data) for call in calls)


def _may_be_there(files: IFiles, paths: Paths, path: str) -> bool:
    try:
        files.stat(paths.root / path.lstrip("/"))
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _list(files: IFiles, paths: Paths, faults: list[str]) -> list[str]:
    try:
        return read_list(files, paths)
    except (OSError, ValueError) as error:
        faults.append(f"{paths.of(DISTRIBUTED_FILES)} cannot be read: {getattr(error, 'strerror', None) or error}")
        return []
