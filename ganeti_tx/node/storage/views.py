"""Which view a program gets of a disk."""

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.storage.abilities import IRawView
from ganeti_tx.node.storage.interfaces import IStorage
from ganeti_tx.node.storage.raw_view import RawView


def view_of(storage: IStorage, disk: DiskSpec, path: str, *, writable: bool) -> RawView:
    """That of a disk which is ready at a path."""
    own: RawView | None = IRawView(storage).view(disk, writable) if IRawView.providedBy(storage) else None
    return own or RawView(path)
