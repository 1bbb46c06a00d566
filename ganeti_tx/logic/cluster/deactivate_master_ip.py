"""Giving up the cluster's address by hand."""

from ganeti_tx.logic.cluster.master_ip import MasterAddressUnit
from ganeti_tx.model.opcodes import OpClusterDeactivateMasterIp
from ganeti_tx.rpc.calls.master import NodeDeactivateMasterIp


class LUClusterDeactivateMasterIp(MasterAddressUnit[OpClusterDeactivateMasterIp]):
    """Give the address up, until somebody takes it or the master daemons start again; not to have it is fine."""

    title = "give the cluster's address up"
    call = NodeDeactivateMasterIp
