"""What a node remembers of its containers, so that a restarted daemon knows what to clean up."""

from collections.abc import Mapping, Sequence

import msgspec


class VethState(msgspec.Struct, frozen=True, kw_only=True):
    """One network interface: a pair, of which `outside` stays on the node and `inside` goes into the container.

    @ivar environment: what scripts were told of it (none: it was connected by an older version).
    """

    uuid: str
    mac: str
    mode: str
    link: str
    vlan: str = ""
    outside: str
    inside: str
    environment: Mapping[str, str] = {}


class ContainerRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One instance from just before its start until everything of it is gone; memory in MiB.

    @ivar uuid: the instance's ('': by an older version).
    """

    memory: int
    vcpus: int
    veths: Sequence[VethState] = ()
    uuid: str = ""
