"""What a folder of storage drivers registers, and all of them together."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.holders import DiskHolders
from ganeti_tx.node.storage.interfaces import IPools, IStorage
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.script_log import OpenLog
from ganeti_tx.runtime.threads import IThreads


class StorageParts(Protocol):
    """What drivers are made from; a node daemon's own parts have it."""

    @property
    def paths(self) -> Paths: ...
    @property
    def files(self) -> IFiles: ...
    @property
    def threads(self) -> IThreads: ...
    @property
    def runner(self) -> IProcessRunner: ...
    @property
    def clock(self) -> IReactorTime: ...
    @property
    def now(self) -> Callable[[], float]: ...
    @property
    def open_log(self) -> OpenLog: ...
    @property
    def holders(self) -> DiskHolders: ...


@frozen
class StorageKind:
    """The storages of some templates, and the pools of the storage types that they lie in (model: StorageType)."""

    storages: Sequence[IStorage]
    pools: Mapping[str, IPools] = field(factory=dict)


#: What each driver module has under the name `register`.
Register = Callable[[StorageParts], StorageKind]


@frozen
class NodeStorage:
    """Where the disks of a node live: storages by disk template, pools by storage type."""

    storages: Mapping[str, IStorage]
    pools: Mapping[str, IPools]

    def of(self, template: str) -> IStorage:
        """The storage of a template. @raise BlockDeviceError: this node has none; the text names those it has."""
        storage = self.storages.get(template)
        if storage is None:
            available = ", ".join(sorted(self.storages))
            raise BlockDeviceError(f"disk template {template!r} is not available on this node; available: {available}")
        return storage


def together(kinds: Iterable[StorageKind]) -> NodeStorage:
    """All of a node. @raise ValueError: two register the same template or the same storage type."""
    storages: dict[str, IStorage] = {}
    pools: dict[str, IPools] = {}
    for kind in kinds:
        own = {storage.template: storage for storage in kind.storages}
        if twice := (storages.keys() & own) | (pools.keys() & kind.pools):
            raise ValueError(f"registered twice: {', '.join(sorted(twice))}")
        storages.update(own)
        pools.update(kind.pools)
    return NodeStorage(storages, pools)
