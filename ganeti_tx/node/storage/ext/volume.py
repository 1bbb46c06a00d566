"""One volume of external storage, and what the scripts of its provider are told of it."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.params.disk import provider_params


@frozen
class Volume:
    """A disk by its provider and its name there."""

    provider: str
    name: str
    disk: DiskSpec

    @property
    def key(self) -> str:
        """What it is called among all volumes of the node; the name of a file."""
        return f"{self.provider}:{self.name}"

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.disk.dev_type} disk {self.name} of provider {self.provider}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The provider's own; the others are ours."""
        return provider_params(TEMPLATES[DiskTemplate(self.disk.dev_type)], self.disk.params)

    @property
    def environment(self) -> dict[str, str]:
        """What every script gets."""
        told = {"VOL_NAME": self.name, "VOL_UUID": self.disk.uuid, "VOL_CNAME": self.disk.name or ""}
        own = {f"EXTP_{name.upper()}": str(value) for name, value in self.parameters.items()}
        return {**{name: value for name, value in told.items() if value}, **own}


def volume_of(disk: DiskSpec) -> Volume:
    """The volume of a disk. @raise BlockDeviceError: its logical id names none."""
    parts = disk.logical_id
    if parts is None or len(parts) != 2 or not all(isinstance(each, str) and is_plain(each) for each in parts):
        raise BlockDeviceError(f"the logical id of an {disk.dev_type} disk is [provider, volume], not {parts!r}")
    return Volume(parts[0], parts[1], disk)


def is_plain(name: str) -> bool:
    """Whether a name is one part of a path, and no other directory."""
    return name not in ("", ".", "..") and not any(sign in name for sign in "/\0\n")
