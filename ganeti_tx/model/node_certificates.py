"""The digests of nodes' certificates, as the cluster object keeps them.

Ganeti's `candidate_certs` has, by node, the certificate with which a master candidate makes calls. Beside these stand, by
"server:" and the node, the certificates by which all nodes answer calls: readers of Ganeti's take any key there, and refuse
an object with a field that they do not know (doc/design/pinned-certificates.rst).
"""

from collections.abc import Mapping

SERVER = "server:"


def server_key(uuid: str) -> str:
    """Under which the digest of a node's server certificate is kept."""
    return f"{SERVER}{uuid}"


def callers(certificates: Mapping[str, str]) -> dict[str, str]:
    """Who may make node calls: digests by the node's uuid."""
    return {key: digest for key, digest in certificates.items() if not key.startswith(SERVER)}


def servers(certificates: Mapping[str, str]) -> dict[str, str]:
    """By what nodes are known when they are called: digests by the node's uuid."""
    return {key.removeprefix(SERVER): digest for key, digest in certificates.items() if key.startswith(SERVER)}
