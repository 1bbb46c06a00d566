"""Changes of the certificates by which nodes are known: while one is replaced the former counts, and the one that comes."""

from collections.abc import Mapping

from msgspec.structs import replace

from ganeti_tx.config.changes_node import with_certificates, without_certificate
from ganeti_tx.config.edit import Change, nothing, stored
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node_certificates import next_caller_key, next_server_key, server_key
from ganeti_tx.model.ssh_keys import next_root_key, root_key


def expect_certificates(callers: Mapping[str, str], servers: Mapping[str, str]) -> Change[None]:
    """Have nodes be known by these, too: digests by uuid.

    @param callers: with which master candidates are going to make calls; those of other nodes are left out.
    @param servers: by which nodes are going to answer them.
    """

    def edit(config: ConfigData, now: float) -> ConfigData:
        comes = {next_caller_key(uuid): digest for uuid, digest in of_candidates(config, callers).items()}
        return with_certificates(config, comes | {next_server_key(uuid): servers[uuid] for uuid in servers}, now)

    return Change(edit, nothing)


def settle_certificates(callers: Mapping[str, str], servers: Mapping[str, str]) -> Change[None]:
    """Have nodes be known by these alone: what they have by now. The parameters are those of `expect_certificates`."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        own = of_candidates(config, callers)
        after = with_certificates(config, {**own, **{server_key(uuid): servers[uuid] for uuid in servers}}, now)
        for key in (*map(next_caller_key, callers), *map(next_server_key, servers)):
            after = without_certificate(after, key, now)
        return after

    return Change(edit, nothing)


def expect_root_keys(keys: Mapping[str, str]) -> Change[None]:
    """Have the roots of nodes let in with these SSH keys, too: by uuid."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        return with_certificates(config, {next_root_key(uuid): key for uuid, key in keys.items()}, now)

    return Change(edit, nothing)


def settle_root_keys(keys: Mapping[str, str], kind: str, bits: int) -> Change[None]:
    """Have them let in with these alone, and new nodes make such keys."""

    def edit(config: ConfigData, now: float) -> ConfigData:
        after = with_certificates(config, {root_key(uuid): key for uuid, key in keys.items()}, now)
        for key in map(next_root_key, keys):
            after = without_certificate(after, key, now)
        cluster = replace(after.cluster, ssh_key_type=kind, ssh_key_bits=bits)
        return after if cluster == after.cluster else replace(after, cluster=touched(cluster, now))

    return Change(edit, nothing)


def of_candidates(config: ConfigData, digests: Mapping[str, str]) -> dict[str, str]:
    """Those of nodes that are master candidates. @raise OpPrereqError: there is no such node."""
    return {uuid: each for uuid, each in digests.items() if stored("node", config.nodes, uuid).master_candidate}
