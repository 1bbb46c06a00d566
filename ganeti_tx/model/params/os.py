"""OS parameters: free names, text values, layered by OS and variant."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from ganeti_tx.errors import ParameterError
from ganeti_tx.model.cluster import Cluster

V = TypeVar("V")

#: How many of an OS or an instance, and their bytes with their names: half of what Linux gives to a program (ARG_MAX).
MOST, LONGEST_TOGETHER = 4096, 1024 * 1024


def os_name(os: str) -> str:
    """The OS of "os+variant"."""
    return os.partition("+")[0]


def os_layers(by_os: Mapping[str, V], os: str) -> Iterator[V]:
    """What is set for an OS, then what for the OS with its variant."""
    for name in dict.fromkeys((os_name(os), os)):
        if name in by_os:
            yield by_os[name]


def fill_osparams(cluster: Cluster, os: str, own: Mapping[str, str] | None = None) -> dict[str, str]:
    """All public parameters of an OS: the cluster's for it, for its variant, then an instance's own."""
    return merged(cluster.osparams, os, own)


def fill_private_osparams(cluster: Cluster, os: str, own: Mapping[str, str] | None = None) -> dict[str, str]:
    """As `fill_osparams`, for those that no log shows."""
    return merged(cluster.osparams_private_cluster, os, own)


def merged(by_os: Mapping[str, Mapping[str, str]], os: str, own: Mapping[str, str] | None) -> dict[str, str]:
    """The layers of an OS under an instance's own."""
    filled: dict[str, str] = {}
    for layer in (*os_layers(by_os, os), own or {}):
        filled.update(layer)
    return filled


def check_osparams(given: Mapping[str, object], path: str = "osparams") -> dict[str, str]:
    """Given parameters as text; the OS itself judges them. @raise ParameterError: no text (the value is not shown)."""
    for name, value in given.items():
        if not name or not isinstance(value, str):
            raise ParameterError(f"{path}.{name}: must be text, got {type(value).__name__}")
    return fitting({name: str(value) for name, value in given.items()}, path)


def fitting(params: Mapping[str, str], path: str = "osparams") -> dict[str, str]:
    """Parameters that scripts can be given together. @raise ParameterError: there is too much of them."""
    size = sum(len(name.encode()) + len(value.encode()) for name, value in params.items())
    if size > LONGEST_TOGETHER or len(params) > MOST:
        raise ParameterError(
            f"{path}: {len(params)} parameters of {size} bytes in all; allowed are {MOST} of {LONGEST_TOGETHER} bytes"
        )
    return dict(params)
