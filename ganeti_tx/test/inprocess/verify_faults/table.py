"""All faults, in the order of the codes."""

from collections.abc import Sequence

from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.test.inprocess.verify_faults import of_cluster, of_instances, of_nodes, of_storage
from ganeti_tx.test.inprocess.verify_faults.fault import ClusterFault

_ORDER = list(VerifyCode)
FAULTS: Sequence[ClusterFault] = sorted(
    (*of_cluster.FAULTS, *of_instances.FAULTS, *of_nodes.FAULTS, *of_storage.FAULTS),
    key=lambda fault: _ORDER.index(fault.code),
)
