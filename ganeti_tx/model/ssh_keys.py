"""Public SSH keys: of nodes' SSH daemons, and of root on nodes.

The cluster object keeps them beside the digests of nodes' certificates (model/node_certificates.py): under "ssh-host:" and the
node a line for each key of its daemon, under "ssh-root:" and the node the key with which its root reaches others.
"""

import re
from collections.abc import Mapping, Sequence

HOST, ROOT = "ssh-host:", "ssh-root:"
#: A key as a public key file has it, without its comment; nothing can stand before it that would be taken for an option.
KEY = re.compile(r"(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp(?:256|384|521)) [A-Za-z0-9+/]{1,8192}={0,3}", re.ASCII)
MAX_HOST_KEYS = 16
#: Allowed lengths by type, the one that is meant when none is given first.
BITS: Mapping[str, Sequence[int]] = {"rsa": range(2048, 16385), "dsa": (1024,), "ecdsa": (384, 256, 521)}


def host_key(uuid: str) -> str:
    """Under which the keys of a node's SSH daemon are kept."""
    return f"{HOST}{uuid}"


def root_key(uuid: str) -> str:
    """Under which the key of a node's root is kept."""
    return f"{ROOT}{uuid}"


def next_root_key(uuid: str) -> str:
    """Under which the key is kept that a node's root is going to have; `model/node_certificates.py` has the prefix."""
    return f"next-{ROOT}{uuid}"


def public_key(line: str) -> str | None:
    """The key of a line of a public key file; None when there is none."""
    bare = " ".join(line.split()[:2])
    return bare if KEY.fullmatch(bare) else None


def default_bits(kind: str) -> int:
    """The length of keys of a type when none is given."""
    return BITS[kind][0]
