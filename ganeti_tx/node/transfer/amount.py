"""How many bytes come for a disk."""

from attrs import define

from ganeti_tx.node.transfer.checksum import Writer
from ganeti_tx.node.transfer.connection import TransferError

MIB = 1 << 20


@define
class Amount:
    """Follows a writer. @ivar least: see `Spec.least`; `most`: see `Spec.most`."""

    least: int
    most: int
    _came: int = 0

    def writing(self, write: Writer) -> Writer:
        """The same, which takes no more than may come."""

        def bounded(block: bytes) -> object:
            self._came += len(block)
            if self.most and self._came > self.most * MIB:
                raise TransferError(
                    f"more than {self.most} MiB came, which the disk can have at most; if it is that long,"
                    " 'gnt-cluster repair-disk-sizes' has it recorded"
                )
            return write(block)

        return bounded

    def check(self) -> None:
        """@raise TransferError: not all has come."""
        if self._came < self.least * MIB:
            raise TransferError(f"only {self._came} bytes came, and the disk has {self.least} MiB")
