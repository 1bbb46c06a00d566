"""Where a devcluster lies: one directory, in it a root a node, and a file that says which nodes there are."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import attrs

from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.trust import check_trusted, own_directory
from ganeti_tx.model.ip_family import canonical
from ganeti_tx.own_modules import module_argv

STATE_FILE = "devcluster.json"
MASTER_FILE = "var/lib/ganeti/ssconf_master_node"
#: Each user's own, where nobody else can make it first; on a disk, as the instances' disks are in it.
DEFAULT_ROOT = own_directory() / ".ganeti-devcluster"
#: Unix sockets below a node's root have long names; the kernel takes 107 bytes.
MAX_ROOT_LENGTH = 50
DOMAIN = "dev.example"


@attrs.frozen(kw_only=True)
class DevNode:
    """One node: its name, its address on this machine, and its root directory."""

    name: str
    address: str
    root: Path
    #: Its IPv4 address beside one of IPv6.
    secondary: str | None = None

    @property
    def secondary_options(self) -> list[str]:
        """For the commands that make a node of it."""
        return [] if self.secondary is None else [f"--secondary-ip={self.secondary}"]

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """What a program needs in order to run as on this node."""
        return {
            **base,
            "GANETI_ROOTDIR": str(self.root),
            "GANETI_HOSTNAME": self.name,
            "GANETI_REMOTE_SHELL": " ".join(module_argv("ganeti_tx.devcluster.remote_shell")),
        }


@attrs.frozen(kw_only=True)
class Layout:
    """A devcluster as it was laid out."""

    root: Path
    cluster_name: str
    master_address: str
    nodes: tuple[DevNode, ...]

    @property
    def master(self) -> DevNode:
        """The node on which the commands run: the master by most nodes' files, the first before there are any."""
        named = Counter(name for node in self.nodes if (name := followed(node.root)) is not None).most_common(1)
        return next((node for node in self.nodes if named and node.name == named[0][0]), self.nodes[0])

    def node(self, name: str) -> DevNode:
        """A node by its name or its first part. @raise DevclusterError: there is none."""
        for node in self.nodes:
            if name in (node.name, node.name.split(".")[0], node.address):
                return node
        raise DevclusterError(
            f"no node {name!r} in {self.root}; there are {', '.join(node.name for node in self.nodes)}"
        )

    def save(self) -> None:
        """Write the state file."""
        document = {
            "cluster_name": self.cluster_name,
            "master_address": self.master_address,
            "nodes": [[node.name, node.address, node.secondary] for node in self.nodes],
        }
        (self.root / STATE_FILE).write_text(json.dumps(document, indent=1) + "\n")


def followed(root: Path) -> str | None:
    """The master that a node follows."""
    try:
        return (root / MASTER_FILE).read_text().strip()
    except OSError:
        return None


def load(root: Path) -> Layout:
    """The layout in a directory. @raise DevclusterError: there is none, it cannot be read, or others may have made it."""
    try:
        check_trusted(root)
        document = json.loads((root / STATE_FILE).read_text())
        nodes = tuple(
            DevNode(name=name, address=address, root=node_root(root, name), secondary=next(iter(more), None))
            for name, address, *more in document["nodes"]
        )
        return Layout(
            root=root, cluster_name=document["cluster_name"], master_address=document["master_address"], nodes=nodes
        )
    except FileNotFoundError:
        raise DevclusterError(f"there is no devcluster in {root}; 'ganeti-devcluster up' makes one")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DevclusterError(f"cannot read {root / STATE_FILE}: {error}")


def plan(root: Path, count: int, ip_version: int = 4) -> Layout:
    """A new layout: names, and addresses of a 127.x.y block that the directory's name determines; for IPv6 of a private
    network besides.
    """
    root = root.absolute()
    if len(str(root)) > MAX_ROOT_LENGTH:
        raise DevclusterError(f"the directory {root} has too long a name; at most {MAX_ROOT_LENGTH} characters")
    if not 1 <= count <= 250:
        raise DevclusterError(f"a devcluster has 1 to 250 nodes, not {count}")
    digest = hashlib.sha256(str(root).encode()).digest()
    old = f"127.{digest[0] % 250 + 1}.{digest[1] % 250 + 1}."
    new = f"fd{digest[2:3].hex()}:{digest[3:5].hex()}:{digest[5:7].hex()}::"
    names = [f"node{number}.{DOMAIN}" for number in range(1, count + 1)]
    nodes = tuple(
        DevNode(name=name, address=f"{old}{number}", root=node_root(root, name))
        if ip_version == 4
        else DevNode(
            name=name, address=canonical(f"{new}{number:x}"), root=node_root(root, name), secondary=f"{old}{number}"
        )
        for number, name in enumerate(names, 1)
    )
    master = f"{old}254" if ip_version == 4 else canonical(f"{new}fe")
    return Layout(root=root, cluster_name=f"cluster.{DOMAIN}", master_address=master, nodes=nodes)


def node_root(root: Path, name: str) -> Path:
    """The root directory of a node."""
    return root / name.split(".")[0]
