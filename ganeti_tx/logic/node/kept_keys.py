"""What whoever has the disk of a node that has left still has of the cluster, and what makes that worthless."""

from collections.abc import Mapping

from ganeti_tx.model.node import Node
from ganeti_tx.model.node_files import (
    AUTHORITY_KEY,
    CONFD_KEYS,
    DOMAIN_SECRET,
    HMAC_KEY,
    RAPI_CERTIFICATE,
    SPICE_CERTIFICATE,
    NodeFile,
)

#: By which option of `gnt-cluster renew-crypto` a key that several nodes have is replaced.
RENEWED_BY: Mapping[NodeFile, str] = {
    AUTHORITY_KEY: "--new-cluster-certificate",
    CONFD_KEYS: "--new-confd-hmac-key",
    HMAC_KEY: "--new-confd-hmac-key",
    RAPI_CERTIFICATE: "--new-rapi-certificate",
    SPICE_CERTIFICATE: "--new-spice-certificate",
    DOMAIN_SECRET: "--new-cluster-domain-secret",
}


def advice(node: Node) -> str:
    """A line for who removes it. One that could be a master candidate may have been one, and have had what candidates have."""
    had = [file for file in RENEWED_BY if file.is_for(candidate=node.master_candidate or node.master_capable)]
    keys = ", ".join(sorted(file.pattern for file in had))
    options = " ".join(dict.fromkeys(RENEWED_BY[file] for file in had))
    return (
        f"Whoever has the disk of node {node.name}, or a copy of it, has keys of the cluster that stay good ({keys})"
        f" until 'gnt-cluster renew-crypto {options}' replaces them"
    )
