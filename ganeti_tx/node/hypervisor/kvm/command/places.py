"""Places of devices on their buses: fixed ones for disks and interfaces, so that they can be found and plugged later."""

from collections.abc import Mapping

from attrs import define

from ganeti_tx.errors import HypervisorError

LAST_SLOT = 31
SCSI_BUS = "scsi.0"
#: The options by which QEMU is told where a device is, such as bus and addr.
Place = Mapping[str, str | int]


@define
class Places:
    """Gives each device a place, from behind those that are left to QEMU for its own devices.

    @ivar given: who has which place; a device that is in it keeps its place.
    @ivar occupied: further slots of the bus that are not free.
    """

    bus: str
    first: int
    given: dict[str, Place]
    occupied: frozenset[int] = frozenset()

    def slot(self, device: str) -> Place:
        """The first free slot of the PCI bus. @raise HypervisorError: the bus is full."""
        if device not in self.given:
            taken = {slot_of(place) for place in self.given.values() if place.get("bus") == self.bus} | self.occupied
            free = next((slot for slot in range(self.first, LAST_SLOT + 1) if slot not in taken), None)
            if free is None:
                raise HypervisorError(
                    f"no PCI slot left up to {LAST_SLOT}: fewer disks and interfaces, or a lower kvm_pci_reservations"
                )
            self.given[device] = {"bus": self.bus, "addr": f"{free:#x}"}
        return self.given[device]

    def scsi(self, device: str) -> Place:
        """The first free address of the SCSI bus."""
        if device not in self.given:
            taken = {place.get("scsi_id") for place in self.given.values()}
            free = next(number for number in range(len(taken) + 1) if number not in taken)
            self.given[device] = {"bus": SCSI_BUS, "channel": 0, "scsi_id": free, "lun": 0}
        return self.given[device]


def slot_of(place: Place) -> int:
    """The number of a slot of the PCI bus."""
    return int(str(place["addr"]), 16)
