"""The first configuration of a cluster: itself, one node group, and the master."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import attrs
import msgspec

from ganeti_tx.config.defaults import CLUSTER_DEFAULTS, GROUP_DEFAULTS, NODE_DEFAULTS
from ganeti_tx.config.upgrade import completed
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigVerifyError
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData
from ganeti_tx.model.decoding import from_builtins
from ganeti_tx.model.node_certificates import server_key
from ganeti_tx.model.ssh_keys import host_key, root_key

#: Gives so many random bytes.
Entropy = Callable[[int], bytes]

DEFAULT_GROUP = "default"


@attrs.frozen(kw_only=True)
class FirstNode:
    """The master of a new cluster; the digests are those of its client and server certificates, the keys SSH's."""

    name: str
    primary_ip: str
    secondary_ip: str
    certificate_digest: str | None = None
    vm_capable: bool = True
    server_digest: str | None = None
    host_keys: str | None = None
    root_key: str | None = None


def random_uuid(entropy: Entropy) -> str:
    """A uuid of version 4."""
    return str(UUID(bytes=entropy(16), version=4))


def new_cluster(
    *,
    cluster_name: str,
    master_ip: str,
    master_netdev: str,
    master: FirstNode,
    settings: Mapping[str, Any],
    entropy: Entropy,
    now: float,
) -> ConfigData:
    """The configuration that "gnt-cluster init" writes; `settings` are further fields of the cluster, as on the wire.

    @raise ConfigurationError: a setting is unknown or wrong. @raise ConfigVerifyError: they contradict each other.
    """
    node, group = random_uuid(entropy), random_uuid(entropy)
    born = {"serial_no": 1, "ctime": now, "mtime": now}
    digests = {
        node: master.certificate_digest,
        server_key(node): master.server_digest,
        host_key(node): master.host_keys,
        root_key(node): master.root_key,
    }
    cluster = {
        **CLUSTER_DEFAULTS,
        "candidate_certs": {key: digest for key, digest in digests.items() if digest is not None},
        **msgspec.to_builtins(dict(settings)),
        "cluster_name": cluster_name,
        "master_ip": master_ip,
        "master_netdev": master_netdev,
        "uuid": random_uuid(entropy),
        "master_node": node,
        **born,
    }
    raw = {
        "version": CONFIG_VERSION,
        "cluster": cluster,
        "nodes": {node: {**NODE_DEFAULTS, **first_node(master), "uuid": node, "group": group, **born}},
        "nodegroups": {group: {**GROUP_DEFAULTS, "name": DEFAULT_GROUP, "uuid": group, **born}},
        "instances": {},
        "networks": {},
        "disks": {},
        "filters": {},
        **born,
    }
    config = completed(from_builtins(raw, ConfigData))
    faults = verify(config)
    if faults:
        raise ConfigVerifyError("the new cluster's settings contradict each other", faults)
    return config


def first_node(master: FirstNode) -> dict[str, Any]:
    """The master's own fields."""
    return {
        "name": master.name,
        "primary_ip": master.primary_ip,
        "secondary_ip": master.secondary_ip,
        "vm_capable": master.vm_capable,
        "master_candidate": True,
    }
