"""The digests of nodes' certificates, as the cluster object keeps them.

Ganeti's `candidate_certs` has, by node, the certificate with which a master candidate makes calls. Beside these stand, by
"server:" and the node, the certificates by which all nodes answer calls: readers of Ganeti's take any key there, and refuse
an object with a field that they do not know (doc/design/pinned-certificates.rst). So do nodes' SSH keys (model/ssh_keys.py).
"""

from collections.abc import Mapping

from ganeti_tx.model.ssh_keys import host_key, next_root_key, root_key

SERVER = "server:"
#: Before a key of a certificate that a node is being given: until it has it, and nobody knows it by the former, both count.
NEXT = "next-"
NEXT_CALLER = f"{NEXT}client:"


def server_key(uuid: str) -> str:
    """Under which the digest of a node's server certificate is kept."""
    return f"{SERVER}{uuid}"


def next_server_key(uuid: str) -> str:
    """Under which the digest of the server certificate is kept that a node is being given."""
    return f"{NEXT}{SERVER}{uuid}"


def next_caller_key(uuid: str) -> str:
    """The same of the certificate with which a master candidate is going to make calls."""
    return f"{NEXT_CALLER}{uuid}"


def keys_of(uuid: str) -> tuple[str, ...]:
    """All that is kept of a node, whatever its role is."""
    return server_key(uuid), host_key(uuid), root_key(uuid), next_server_key(uuid), next_root_key(uuid)


def keys_of_candidate(uuid: str) -> tuple[str, ...]:
    """All that is kept of a node because it is a master candidate."""
    return uuid, next_caller_key(uuid)


def callers(certificates: Mapping[str, str]) -> dict[str, str]:
    """Who may make node calls: digests by the node's uuid."""
    return {key: digest for key, digest in certificates.items() if ":" not in key}


def servers(certificates: Mapping[str, str]) -> dict[str, str]:
    """By what nodes are known when they are called: digests by the node's uuid."""
    return {key.removeprefix(SERVER): digest for key, digest in certificates.items() if key.startswith(SERVER)}


def expected_callers(certificates: Mapping[str, str]) -> list[tuple[str, str]]:
    """The present ones and those that are coming: nodes' uuids with a digest each."""
    coming = [
        (key.removeprefix(NEXT_CALLER), each) for key, each in certificates.items() if key.startswith(NEXT_CALLER)
    ]
    return [*callers(certificates).items(), *coming]


def expected_servers(certificates: Mapping[str, str], uuid: str) -> list[str]:
    """The digests of the certificates that a node may show."""
    found = [certificates[key] for key in (server_key(uuid), next_server_key(uuid)) if key in certificates]
    return list(dict.fromkeys(found))


def coming(certificates: Mapping[str, str]) -> list[str]:
    """The uuids of nodes whose certificates are being replaced."""
    return sorted({key.partition(":")[2] for key in certificates if key.startswith(NEXT)})
