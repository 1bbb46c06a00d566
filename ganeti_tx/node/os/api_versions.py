"""Which variables came with which version of the OS interface (design-2.0, "OS interface"; design-2.1, "OS API changes").

A definition that speaks an older version is told nothing newer, so that no new name means something else to its scripts.
"""

import re
from collections.abc import Mapping

VARIANTS_SINCE = 15
PARAMETERS_SINCE = 20

#: The variables of version 10.
_FIRST = re.compile(
    "PATH|OS_API_VERSION|INSTANCE_NAME|HYPERVISOR|DISK_COUNT|NIC_COUNT|DEBUG_LEVEL"
    r"|DISK_\d+_(PATH|ACCESS|FRONTEND_TYPE|BACKEND_TYPE)|NIC_\d+_(MAC|IP|BRIDGE|FRONTEND_TYPE)"
)
_PARAMETER = re.compile("OSP_.*", re.DOTALL)


def known_to(api_version: int, environment: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that a version of the interface has."""
    return {name: value for name, value in environment.items() if _since(name) <= api_version}


def _since(name: str) -> int:
    if _FIRST.fullmatch(name):
        return 0
    return PARAMETERS_SINCE if _PARAMETER.fullmatch(name) else VARIANTS_SINCE
