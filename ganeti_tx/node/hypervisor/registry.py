"""Which hypervisors this node has: those whose declaration names a folder here, with a module `driver`."""

from collections.abc import Mapping
from importlib import import_module

from ganeti_tx.model.hypervisors import AVAILABLE, HYPERVISORS
from ganeti_tx.node import hypervisor
from ganeti_tx.node.hypervisor.interfaces import IHypervisor
from ganeti_tx.node.hypervisor.kinds import HypervisorParts, Register


def registration(folder: str) -> Register:
    """What makes the driver of a folder."""
    register: Register = import_module(f"{hypervisor.__name__}.{folder}.driver").register
    return register


def load_hypervisors(parts: HypervisorParts) -> Mapping[str, IHypervisor]:
    """Every driver that is built, by its name; what a node lacks for one is told by the driver's `verify`."""
    return {word.value: registration(str(HYPERVISORS[word].driver))(parts) for word in AVAILABLE}
