"""What a node tells one of its instances of itself."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec

#: The OS parameters that a cloud image's own set-up reads, beside those of the OS definition.
SSH_KEYS, USER_DATA = "ssh_authorized_keys", "user_data"


class Visibility(Enum):
    """The class of an OS parameter (reference: metadata-service.json)."""

    PUBLIC = "public"
    PRIVATE = "private"
    SECRET = "secret"


class GuestNic(msgspec.Struct, frozen=True, kw_only=True):
    """A network interface as the guest is to set it up; `subnet` and `gateway` as its network says."""

    mac: str
    ip: str | None = None
    subnet: str | None = None
    gateway: str | None = None
    subnet6: str | None = None
    gateway6: str | None = None
    network: str | None = None
    to_node: bool = False  # the communication NIC


class GuestFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All of one instance. `parameters` are its OS parameters with their visibility, `scripts` the texts of its OS definition.

    @ivar address, interface: of its communication NIC: its own address, and the node's end.
    @ivar environment: what OS scripts are told, but the OS parameters.
    """

    name: str
    uuid: str
    address: str
    interface: str
    os: str = ""
    hypervisor: str = ""
    tags: list[str] = []
    nics: list[GuestNic] = []
    parameters: dict[str, tuple[str, Visibility]] = {}
    scripts: dict[str, str] = {}
    environment: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<GuestFacts {self.name}>"  # some parameters may be in no log

    def value(self, name: str) -> str:
        """Of an OS parameter; empty if it has none."""
        return self.parameters[name][0] if name in self.parameters else ""

    def without_secrets(self) -> "GuestFacts":
        """What may be kept."""
        kept = {name: each for name, each in self.parameters.items() if each[1] is not Visibility.SECRET}
        return msgspec.structs.replace(self, parameters=kept)


def classified(
    public: Mapping[str, Any], private: Mapping[str, Any], secret: Mapping[str, Any]
) -> dict[str, tuple[str, Visibility]]:
    """OS parameters, each once: none takes the place of one that is less hidden."""
    layers = ((secret, Visibility.SECRET), (private, Visibility.PRIVATE), (public, Visibility.PUBLIC))
    return {name: (str(value), kind) for values, kind in layers for name, value in values.items()}
