"""Whether an instance could ever be started as it is to be: what its hypervisor knows without asking a node."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.base import Params
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisor import Shape
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.params.backend import BackendParams


def check_fits(hypervisor: Hypervisor, hvparams: Params, beparams: BackendParams, disks: int) -> None:
    """@raise OpPrereqError: wrong_input, all reasons. @param hvparams: filled, and so are beparams"""
    shape = Shape(memory=beparams.maxmem, vcpus=beparams.vcpus, disks=disks)
    if wrong := list(HYPERVISORS[hypervisor].unfit(hvparams, shape)):
        raise OpPrereqError(f"hypervisor {hypervisor.value} could not start it: {'; '.join(wrong)}", ECode.INVAL)
