"""The hypervisors: each module declares the one that it is named after, as HYPERVISOR."""

from collections.abc import Mapping
from importlib import import_module

from ganeti_tx.model.declared import module_of
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisor import HypervisorKind


def declared(word: Hypervisor) -> HypervisorKind:
    """The declaration of a hypervisor."""
    kind = import_module(f"{__name__}.{module_of(word)}").HYPERVISOR
    assert isinstance(kind, HypervisorKind), word
    return kind


HYPERVISORS: Mapping[Hypervisor, HypervisorKind] = {word: declared(word) for word in Hypervisor}
#: Those that a node has a driver for, in the order in which clusters prefer them.
AVAILABLE = tuple(
    sorted(
        (word for word, kind in HYPERVISORS.items() if kind.available),
        key=lambda word: (not HYPERVISORS[word].by_default, word),
    )
)
#: What a cluster has that says nothing of hypervisors.
BY_DEFAULT = tuple(word for word, kind in HYPERVISORS.items() if kind.by_default)
#: What no instance or OS sets.
CLUSTER_ONLY = frozenset(name for kind in HYPERVISORS.values() for name in kind.cluster_only)


def hypervisors_of(collector: str) -> frozenset[Hypervisor]:
    """Those whose instances a collector of the monitoring daemon is about."""
    return frozenset(word for word, kind in HYPERVISORS.items() if collector in kind.collectors)
