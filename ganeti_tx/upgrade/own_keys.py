"""The keys that a master of Ganeti's does not have: an authority, and certificates that it has signed.

Ganeti's nodes share one certificate that has signed itself; nothing that is known by it can be known by the authority. So
the master alone has keys of this program at first, and the other nodes get theirs by ``gnt-node add --readd``.
"""

from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.bootstrap.keys import NodeKeys, node_keys, utc_now
from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import server_key
from ganeti_tx.model.node_files import (
    AUTHORITY,
    AUTHORITY_KEY,
    CLIENT_CERTIFICATE,
    SERVER_CERTIFICATE,
    SSCONF,
)
from ganeti_tx.runtime.certificates import Identity, create_authority
from ganeti_tx.runtime.ssconf_files import ssconf_bytes
from ganeti_tx.upgrade.data_directory import DataDirectory


@frozen
class OwnKeys:
    """A new authority and the master's keys. @ivar others: the names of the nodes that have none yet."""

    authority: Identity
    keys: NodeKeys
    master: Node
    others: tuple[str, ...]

    @classmethod
    def missing(cls, place: DataDirectory, config: ConfigData) -> "OwnKeys | None":
        """New ones, if there is no authority. @raise ConfigurationError: the configuration has no such master."""
        if place.at(AUTHORITY).exists():
            return None
        master = config.nodes.get(config.cluster.master_node)
        if master is None:
            raise ConfigurationError(f"cluster.master_node: there is no node {config.cluster.master_node!r}")
        authority = create_authority(config.cluster.cluster_name, utc_now())
        keys = node_keys(authority, master.name, [master.primary_ip], {})
        others = sorted(node.name for node in config.nodes.values() if node is not master)
        return cls(authority, keys, master, tuple(others))

    def known(self, config: ConfigData) -> ConfigData:
        """With what the master is known by from now on, and no others, as theirs are of no authority that is trusted."""
        digests = {self.master.uuid: self.keys.client_digest, server_key(self.master.uuid): self.keys.server_digest}
        return replace(config, cluster=replace(config.cluster, candidate_certs=digests))

    def write(self, place: DataDirectory, config: ConfigData) -> None:
        """The authority's certificate comes last: without it a second run begins anew. @raise OSError"""
        for key, value in ssconf_values(config).items():
            place.write(place.at(SSCONF).with_name(SSCONF.pattern.replace("*", key)), ssconf_bytes(value), SSCONF.mode)
        for file, data in (
            (AUTHORITY_KEY, self.authority.key),
            (CLIENT_CERTIFICATE, self.keys.client.bundle),
            (SERVER_CERTIFICATE, self.keys.server.bundle),
            (AUTHORITY, self.keys.authority),
        ):
            if place.at(file).exists():
                place.back_up(file)
            place.write(place.at(file), data, file.mode)
