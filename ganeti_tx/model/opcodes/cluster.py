"""Opcodes about the cluster as a whole."""

from typing import Any

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.private import Private
from ganeti_tx.model.opcodes.types import NonEmpty, Positive, SshKeyType
from ganeti_tx.model.settings.setting import parameters_of
from ganeti_tx.model.settings.table import DECLARED


class OpClusterPostInit(OpCode, tag="OP_CLUSTER_POST_INIT"):
    """Run the hooks that follow the making of a cluster."""


class OpClusterDestroy(OpCode, tag="OP_CLUSTER_DESTROY"):
    """End the cluster; it must be empty but for the master."""


class OpClusterRename(OpCode, tag="OP_CLUSTER_RENAME"):
    """Give the cluster another name and, with it, another address."""

    summary_field = "name"

    name: NonEmpty


#: What changes settings, each as it is declared.
CHANGES = {name: (kind | None, None) for name, kind in parameters_of(DECLARED).items()}


class OpClusterSetParams(OpCode, tag="OP_CLUSTER_SET_PARAMS", fields=CHANGES):
    """Change settings of the cluster; what is null stays."""

    force: bool = False
    osparams_private_cluster: dict[str, dict[str, Private]] | None = None


def settings_given(op: OpClusterSetParams) -> dict[str, Any]:
    """The parameters about settings that are not null."""
    return {name: value for name in CHANGES if (value := getattr(op, name)) is not None}


class OpClusterQuery(OpCode, tag="OP_CLUSTER_QUERY"):
    """Tell everything about the cluster in one answer."""


class OpClusterConfigQuery(OpCode, tag="OP_CLUSTER_CONFIG_QUERY"):
    """Tell single facts about the cluster."""

    output_fields: tuple[NonEmpty, ...]


class OpClusterRedistConf(OpCode, tag="OP_CLUSTER_REDIST_CONF"):
    """Send configuration and key files to all nodes once more."""


class OpClusterRenewCrypto(OpCode, tag="OP_CLUSTER_RENEW_CRYPTO"):
    """Replace the cluster's keys: the authority, with all that it signed, the nodes' certificates, confd's key, SSH keys."""

    node_certificates: bool = False
    renew_ssh_keys: bool = False
    ssh_key_type: SshKeyType | None = None
    ssh_key_bits: Positive | None = None
    verbose: bool = False
    debug: bool = False
    cluster_certificate: bool = False
    confd_hmac_key: bool = False


class OpClusterRepairDiskSizes(OpCode, tag="OP_CLUSTER_REPAIR_DISK_SIZES"):
    """Correct recorded disk sizes to the real ones."""

    instances: tuple[NonEmpty, ...] = ()


class OpClusterActivateMasterIp(OpCode, tag="OP_CLUSTER_ACTIVATE_MASTER_IP"):
    """Bring up the cluster's address on the master."""


class OpClusterDeactivateMasterIp(OpCode, tag="OP_CLUSTER_DEACTIVATE_MASTER_IP"):
    """Take down the cluster's address on the master."""
