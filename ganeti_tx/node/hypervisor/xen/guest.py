"""What a domain is made from."""

from collections.abc import Sequence

from attrs import field, frozen

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk


@frozen
class Guest:
    """An instance with its disks, for this node.

    @ivar stays: whether its domain is kept when its guest has powered itself off.
    @ivar password: of its display; empty for none.
    """

    spec: InstanceSpec
    disks: Sequence[AttachedDisk]
    stays: bool = False
    password: str = field(default="", repr=False)

    @property
    def memory(self) -> int:
        """MiB."""
        return int(self.spec.beparams["maxmem"])

    @property
    def vcpus(self) -> int:
        """Virtual processors."""
        return int(self.spec.beparams["vcpus"])
