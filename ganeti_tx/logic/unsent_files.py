"""Files that parameters of hypervisors name, and that the cluster does not bring to all nodes: taken, but not without a word."""

from collections.abc import Collection, Iterator

from ganeti_tx.model.base import Params
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.listed_files import parameter_fault


def unsent_files(hypervisor: Hypervisor, hvparams: Params, before: Params, listed: Collection[str]) -> Iterator[str]:
    """A line for each that was not named before.

    @param hvparams: filled, and so is what there was `before`, or would be without them. @param listed: what the
        administrator has sent, wherever it is.
    """
    for name in HYPERVISORS[hypervisor].shared_files:
        path = str(hvparams[name])
        new = path and path != before.get(name) and path not in listed
        if new and (fault := parameter_fault(path)):
            yield f"{name}: {unsent(path, fault)}"


def unsent(path: str, fault: str) -> str:
    """What is to be known of one."""
    return f"file {path} is not sent to the other nodes: {fault}"
