"""This cluster while another one is merged into it: its daemons go on."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from attrs import frozen

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.config.merging.choices import Choices
from ganeti_tx.config.upgrade import read_config
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.daemon import Daemon
from ganeti_tx.merge import instances
from ganeti_tx.merge.steps import check_master, state
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, ConfigData
from ganeti_tx.runtime.daemon_programs import own_program
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.upgrade.jobs import Jobs
from ganeti_tx.upgrade.remote import ended

WCONFD = Daemon("the configuration daemon (ganeti-wconfd, part of ganeti-master)", "ganeti-master")
#: Whose requests are those of no job: its number, and no livelock file.
NOBODY = (0, "")
#: Seconds that a command may take.
LIMIT = 3600.0


@frozen
class OwnCluster:
    """The one that stays."""

    paths: Paths
    jobs: Jobs

    def check(self) -> None:
        """@raise GanetiError: this is not its master node, or the master daemon does not answer"""
        if not self.paths.ssconf_file("master_node").exists():
            raise BootstrapError(f"this node is not part of a cluster (no {self.paths.ssconf_file('master_node')})")
        check_master(self.paths)
        self.state()

    def state(self) -> tuple[bool, float | None]:
        """As `steps.state`."""
        return state(self.paths)

    def config(self) -> ConfigData:
        """The configuration on disk. @raise OSError, ConfigurationError"""
        with self.paths.config_file.open("rb") as file:
            return read_config(file.read(MAX_CONFIG_BYTES + 1)).config

    def in_service(self, name: str) -> bool:
        """Whether a node is. @raise OSError, ConfigurationError"""
        return any(node.name == name and not node.offline for node in self.config().nodes.values())

    def pause(self, end: float | None) -> None:
        """The watchers, until then."""
        with Client(str(self.paths.query_socket)) as client:
            client.set_watcher_pause(end)

    def join(self, other: ConfigData, choices: Choices) -> None:
        """Take the other's configuration in. @raise GanetiError: it was refused; nothing was changed."""
        self._change("JoinCluster", other, choices)

    def part(self, other: ConfigData) -> None:
        """Drop it again; no port is kept for what has been dropped. @raise GanetiError: a node of it is in service."""
        containers = (other.nodes, other.nodegroups, other.networks, other.instances, other.disks)
        self._change("PartClusters", sorted({uuid for held in containers for uuid in held}))
        self._change("DropAllReservations")

    def _change(self, request: str, *args: object) -> None:
        with Client(str(self.paths.wconfd_socket), daemon=WCONFD) as client:
            client.call(request, msgspec.to_builtins([NOBODY, *args]))

    def drain(self) -> None:
        """Have no jobs under way, and take none. @raise GanetiError: they do not come to their end."""
        self.jobs.drain()

    def open(self) -> None:
        """Take jobs again. @raise GanetiError"""
        self.jobs.open()

    def start(self, names: Collection[str]) -> None:
        """Some instances. @raise GanetiError: not all run"""
        instances.start(names)

    def names(self) -> tuple[set[str], set[str]]:
        """Of all nodes and all instances, as the master daemon shows them."""
        with Client(str(self.paths.query_socket)) as client:
            nodes: list[Any] = client.query("node", ["name"], None)["data"]
            return {row[0][1] for row in nodes}, {name for name, _, _ in instances.rows(client)}

    def run(self, program: str, *arguments: str, environ: Mapping[str, str] | None = None) -> str:
        """What one of the commands says. @raise GanetiError: it failed, with what it said."""
        done = ended([own_program(program), *arguments], LIMIT, environ=environ)
        if done.returncode != 0:
            raise BootstrapError(f"{program} {words(arguments)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout


def words(arguments: Sequence[str]) -> str:
    """For a line."""
    return " ".join(arguments[:4])
