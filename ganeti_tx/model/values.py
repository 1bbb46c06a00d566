"""The named types of values: strings, numbers and containers with their limits, which settings and opcodes share."""

from enum import StrEnum
from typing import Annotated, Any

import msgspec

NonEmpty = Annotated[str, msgspec.Meta(min_length=1)]
NonNegative = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(gt=0)]

Params = dict[str, Any]
"""Parameters whose names and types another table declares (hypervisor, back end, node, policy ...)."""

IdRange = tuple[int, int]
"""First and last user id of a range."""


class NicKey(StrEnum):
    """What a request may say of one network card."""

    BRIDGE = "bridge"
    IP = "ip"
    LINK = "link"
    MAC = "mac"
    MODE = "mode"
    NAME = "name"
    NETWORK = "network"
    VLAN = "vlan"


NicParams = dict[NicKey, str | None]


class ListAction(StrEnum):
    """What happens to one name of a list that has no parameters to modify."""

    ADD = "add"
    ATTACH = "attach"
    DETACH = "detach"
    REMOVE = "remove"
