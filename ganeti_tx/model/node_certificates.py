"""The digests of nodes' certificates, as the cluster object keeps them.

Ganeti's `candidate_certs` has, by node, the certificate with which a master candidate makes calls. Beside these stand, by
"server:" and the node, the certificates by which all nodes answer calls: readers of Ganeti's take any key there, and refuse
an object with a field that they do not know (doc/design/pinned-certificates.rst). So do nodes' SSH keys (model/ssh_keys.py).
"""

from collections.abc import Mapping

from ganeti_tx.model.ssh_keys import host_key, root_key

SERVER = "server:"


def server_key(uuid: str) -> str:
    """Under which the digest of a node's server certificate is kept."""
    return f"{SERVER}{uuid}"


def keys_of(uuid: str) -> tuple[str, ...]:
    """All that is kept of a node, whatever its role is."""
    return server_key(uuid), host_key(uuid), root_key(uuid)


def callers(certificates: Mapping[str, str]) -> dict[str, str]:
    """Who may make node calls: digests by the node's uuid."""
    return {key: digest for key, digest in certificates.items() if ":" not in key}


def servers(certificates: Mapping[str, str]) -> dict[str, str]:
    """By what nodes are known when they are called: digests by the node's uuid."""
    return {key.removeprefix(SERVER): digest for key, digest in certificates.items() if key.startswith(SERVER)}
