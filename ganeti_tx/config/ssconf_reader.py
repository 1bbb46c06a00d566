"""Reading simple configuration: what a node knows of its cluster without asking the master."""

from collections.abc import Callable
from typing import TypeVar

import attrs

from ganeti_tx.config.ssconf import NO_MASTER
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.files_errors import words
from ganeti_tx.runtime.paths import Paths

#: A list of 2,000 instances with long names is larger than the 128 KiB that Ganeti's own tools read.
MAX_SSCONF_BYTES = 16 * 1024 * 1024

T = TypeVar("T")


@attrs.define(eq=False)
class SsconfReader:
    """Reads a key's file when it has changed since the last time. @raise ConfigurationError: it cannot be read."""

    _files: IFiles
    _paths: Paths
    _seen: dict[str, tuple[FileStat, str]] = attrs.field(factory=dict, init=False)

    def value(self, key: str) -> str:
        """The value of any key, without the final newline."""
        path = self._paths.ssconf_file(key)
        try:
            stat = self._files.stat(path)
            seen = self._seen.get(key)
            if seen is None or seen[0] != stat:
                text = self._files.read(path, MAX_SSCONF_BYTES).decode()
                seen = self._seen[key] = (stat, text.removesuffix("\n"))
        except FileNotFoundError:
            raise ConfigurationError(f"this node is not part of a cluster: no {path}") from None
        except UnicodeDecodeError as error:
            raise ConfigurationError(f"cannot read {path}: {error}") from None
        except OSError as error:
            if key not in self._seen:
                raise ConfigurationError(f"cannot read {path}: {words(error, path)}") from None
            seen = self._seen[key]  # what it was until now; the next time it may be readable again
        return seen[1]

    def words(self, key: str) -> list[str]:
        """The lines of a value."""
        return [line for line in self.value(key).splitlines() if line]

    def cluster_name(self) -> str:
        """The cluster's name."""
        return self.value("cluster_name")

    def master_node(self) -> str | None:
        """The master's name; None when nobody knows it."""
        name = self.value("master_node")
        return None if name in {NO_MASTER, ""} else name

    def nodes(self) -> list[NodeAddress]:
        """Every node, by name."""
        addresses = self._pairs("node_primary_ips", " ")
        offline = set(self.words("offline_nodes"))
        return [NodeAddress(name, addresses.get(name, name), name in offline) for name in self.words("node_list")]

    def node(self, name: str) -> NodeAddress:
        """One node by its name. @raise ConfigurationError: ssconf does not list it."""
        for node in self.nodes():
            if node.name == name:
                return node
        raise ConfigurationError(f"node {name!r} is not in {self._paths.ssconf_file('node_list')}")

    def candidates(self) -> list[NodeAddress]:
        """The master candidates."""
        names = set(self.words("master_candidates"))
        return [node for node in self.nodes() if node.name in names]

    def candidate_certificates(self) -> dict[str, str]:
        """The digests of the certificates that may make node calls, by node uuid."""
        return self._pairs("master_candidates_certs", "=")

    def ssh_ports(self) -> dict[str, int]:
        """The SSH port of each node. @raise ConfigurationError: one is no number."""
        return self._each("ssh_ports", int)

    def vm_capable(self) -> dict[str, bool]:
        """Which nodes run instances."""
        return self._each("node_vm_capable", lambda word: word == "True")

    def hvparams(self, hypervisor: Hypervisor) -> dict[str, str]:
        """The cluster's parameters of a hypervisor, as text."""
        return self._pairs(f"hvparams_{hypervisor.value}", "=")

    def _pairs(self, key: str, between: str) -> dict[str, str]:
        parted = (line.partition(between) for line in self.words(key))
        return {name: value for name, _, value in parted}

    def _each(self, key: str, convert: Callable[[str], T]) -> dict[str, T]:
        try:
            return {name: convert(word) for name, word in self._pairs(key, "=").items()}
        except ValueError as error:
            raise ConfigurationError(f"{self._paths.ssconf_file(key)}: {error}") from None
