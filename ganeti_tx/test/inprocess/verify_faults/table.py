"""All faults, in the order of the codes; and the codes that no fault can have yet."""

from collections.abc import Mapping, Sequence

from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.verify_codes import VerifyCode
from ganeti_tx.test.inprocess.verify_faults import of_cluster, of_instances, of_nodes, of_storage
from ganeti_tx.test.inprocess.verify_faults.fault import ClusterFault

_ORDER = list(VerifyCode)
FAULTS: Sequence[ClusterFault] = sorted(
    (*of_cluster.FAULTS, *of_instances.FAULTS, *of_nodes.FAULTS, *of_storage.FAULTS),
    key=lambda fault: _ORDER.index(fault.code),
)
#: What can go wrong only with drivers that are not built, by the template that they serve.
OF_DRIVERS: Mapping[VerifyCode, DiskTemplate] = {
    VerifyCode.ENODEGLUSTERSTORAGEPATHUNUSABLE: DiskTemplate.GLUSTER,
}
