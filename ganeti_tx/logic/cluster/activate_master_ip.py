"""Taking the cluster's address by hand."""

from ganeti_tx.logic.cluster.master_ip import MasterAddressUnit
from ganeti_tx.model.opcodes import OpClusterActivateMasterIp
from ganeti_tx.rpc.calls.master import NodeActivateMasterIp


class LUClusterActivateMasterIp(MasterAddressUnit[OpClusterActivateMasterIp]):
    """Take the address; to have it already is fine."""

    title = "take the cluster's address"
    call = NodeActivateMasterIp
