"""Places on the PCI bus: fixed ones for disks and interfaces, so that they can be found and hot-plugged later."""

from attrs import define

from ganeti_tx.errors import HypervisorError

LAST_SLOT = 31


@define
class PciSlots:
    """Hands out slots from behind those that are left to QEMU for its own devices."""

    bus: str
    following: int

    def take(self) -> dict[str, str]:
        """The options `bus` and `addr` of the next device. @raise HypervisorError: the bus is full."""
        if self.following > LAST_SLOT:
            raise HypervisorError(
                f"no PCI slot left up to {LAST_SLOT}: fewer disks and interfaces, or a lower kvm_pci_reservations"
            )
        slot = self.following
        self.following += 1
        return {"bus": self.bus, "addr": f"{slot:#x}"}
