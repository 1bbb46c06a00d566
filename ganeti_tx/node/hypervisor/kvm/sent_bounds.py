"""What another node may say of a machine at all: short words, numbers that a machine can have, and nothing that names a file."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ganeti_tx.model.kvm_values import MAX_MEMORY, MAX_VCPUS
from ganeti_tx.node.hypervisor.kvm.command.machine import MAX_DIMMS
from ganeti_tx.node.hypervisor.kvm.command.places import LAST_SLOT, SCSI_BUS

#: Of one list, and of one parameter.
MOST, LONGEST = 4096, 16 * 1024

Word = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")]
Words = Annotated[list[Word], Meta(max_length=MOST)]
Value = Annotated[str, Meta(max_length=LONGEST)] | int | bool | None
Params = Annotated[dict[Word, Value], Meta(max_length=MOST)]
Memory = Annotated[int, Meta(ge=1, le=MAX_MEMORY)]
Dimms = Annotated[list[Memory], Meta(max_length=MAX_DIMMS)]
Vcpus = Annotated[int, Meta(ge=1, le=MAX_VCPUS)]
PluggedVcpus = Annotated[int, Meta(ge=0, le=MAX_VCPUS)]
Unit = Annotated[int, Meta(ge=0, le=255)]
Version = tuple[Unit, Unit, Unit]


class SentPlace(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a device is: in a slot of a PCI bus, or on the SCSI bus (see `command.places`)."""

    bus: Word
    addr: Annotated[str, Meta(pattern=r"\A0x[0-9a-f]{1,2}\Z")] | UnsetType = UNSET
    channel: Unit | UnsetType = UNSET
    scsi_id: Unit | UnsetType = UNSET
    lun: Unit | UnsetType = UNSET

    def __post_init__(self) -> None:
        """@raise ValueError: it is no such place."""
        if (self.bus == SCSI_BUS) is (self.scsi_id is UNSET) or (self.bus == SCSI_BUS) is not (self.addr is UNSET):
            raise ValueError(f"a place has scsi_id on the bus {SCSI_BUS}, and addr on any other")
        if self.addr is not UNSET and int(self.addr, 16) > LAST_SLOT:
            raise ValueError(f"the last slot of a bus is {LAST_SLOT:#x}")


Places = Annotated[dict[Word, SentPlace], Meta(max_length=MOST)]
