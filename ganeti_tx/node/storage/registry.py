"""Which disk templates this node has."""

from collections.abc import Mapping

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.node.storage.diskless.driver import Diskless
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.file.driver import FileStorage
from ganeti_tx.node.storage.interfaces import IStorage
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import IThreads


def load_storage(files: IFiles, paths: Paths, threads: IThreads) -> Mapping[str, IStorage]:
    """Every template that is built, by its name."""
    allowed = AllowedPaths(files, paths)
    built: list[IStorage] = [
        Diskless(),
        FileStorage("file", allowed, threads),
        FileStorage("sharedfile", allowed, threads),
    ]
    return {storage.template: storage for storage in built}


def storage_of(storages: Mapping[str, IStorage], template: str) -> IStorage:
    """The storage of a template. @raise BlockDeviceError: this node has none; the text names those it has."""
    storage = storages.get(template)
    if storage is None:
        available = ", ".join(sorted(storages))
        raise BlockDeviceError(f"disk template {template!r} is not available on this node; available: {available}")
    return storage
