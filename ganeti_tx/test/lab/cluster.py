"""A cluster whose nodes are a lab's machines; its master runs outside, at full speed.

The master is a node as well, of the same network, with its files below a directory. It can hold no instances.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from ganeti_tx.bootstrap.remote_call import REMOTE_LIMIT_VARIABLE
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.lab import Lab
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.network import OUTSIDE, address
from ganeti_tx.test.nodes.machine import NO_CLOCK

DOMAIN = "lab.example"
MASTER = f"outside.{DOMAIN}"
CLUSTER = f"cluster.{DOMAIN}"
CLUSTER_ADDRESS = address(100)
CHECKOUT = Path(__file__).parents[3]
#: Seconds that one command, and a step on a machine, may take: a daemon there takes minutes to start when ours is busy.
COMMAND_LIMIT = 600.0
FILE_STORAGE = "/srv/ganeti/file-storage"
#: What instances may have; the smallest of all, as everything takes long on these machines.
BOUNDS = "min:cpu-count=1,disk-count=0,disk-size=4,memory-size=4,nic-count=0,spindle-use=1"
BOUNDS += "/max:cpu-count=8,disk-count=16,disk-size=1048576,memory-size=32768,nic-count=8,spindle-use=12"
#: Has what an operating system's definition must have, and puts nothing on the disks.
OS = "blank"
#: Not the same files on all machines: enough for what is done on one of them.
SHARED_FILE_STORAGE = "/srv/ganeti/shared-file-storage"
INSTALL_OS = f"""
mkdir -p /srv/ganeti/os/{OS} && cd /srv/ganeti/os/{OS} && echo 20 > ganeti_api_version && : > parameters.list
for script in create import export rename verify; do printf '#!/bin/sh\\n' > $script; chmod 755 $script; done
"""
#: Starts a machine's node daemon, and ends when that is ready.
START = "ganeti-noded"


@frozen
class LabCluster:
    """The cluster of a lab."""

    lab: Lab

    @property
    def top(self) -> Path:
        """Below it is all that belongs to the master."""
        return self.lab.state / "cluster"

    @property
    def root(self) -> Path:
        """The master's root directory."""
        return self.top / "outside"

    @staticmethod
    def node_name(machine: Machine) -> str:
        """As the cluster knows a machine."""
        return f"{machine.name}.{DOMAIN}"

    def up(
        self,
        templates: Sequence[str] = ("plain", "drbd", "file"),
        options: Sequence[str] = (),
        hypervisors: str = "fake,kvm",
    ) -> None:
        """Make it, with the commands that an administrator types. @raise LabFailed: one of them failed.

        @param options: further ones of `gnt-cluster init`.
        """
        self._prepare()
        chosen = ["--enabled-disk-templates", ",".join(templates), "--enabled-hypervisors", hypervisors]
        volumes = ["--vg-name", "xenvg"] if {"plain", "drbd"} & set(templates) else []
        network = ["--master-netdev", "lab0", "--secondary-ip", address(OUTSIDE, 1), "--no-ssh-init", "--no-etc-hosts"]
        network += ["--nic-parameters", "link=br0"]
        small = ["--ipolicy-bounds-specs", BOUNDS]
        self.ok("gnt-cluster", "init", *chosen, *volumes, *network, *small, *options, CLUSTER)
        self.ok("gnt-node", "modify", "--vm-capable=no", MASTER)
        for machine in self.lab.machines:
            places = f"{FILE_STORAGE} {SHARED_FILE_STORAGE}"
            machine.run(f"mkdir -p /etc/ganeti {places}; printf '%s\\n' {places} > /etc/ganeti/file-storage-paths")
            machine.run(INSTALL_OS)
            secondary = ["-s", address(machine.node, 1)]
            self.ok("gnt-node", "add", "--no-node-setup", "--master-capable=no", *secondary, self.node_name(machine))

    @property
    def is_up(self) -> bool:
        """Whether it was made."""
        return (self.root / "var/lib/ganeti/config.data").exists()

    def run(self, *words: str, limit: float = COMMAND_LIMIT) -> "subprocess.CompletedProcess[str]":
        """How one of our commands ended on the master. @raise LabFailed: not in time."""
        program = Path(sys.executable).parent / words[0]
        command = self.lab.network.inside([str(program), *words[1:]])
        try:
            return subprocess.run(
                [*NO_CLOCK, *command],
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LabFailed(f"{shlex.join(words)} did not end within {limit:.0f} s") from None

    def ok(self, *words: str, limit: float = COMMAND_LIMIT) -> str:
        """What a command wrote that must succeed. @raise LabFailed: it does not."""
        ended = self.run(*words, limit=limit)
        if ended.returncode != 0:
            raise LabFailed(f"{shlex.join(words)}: status {ended.returncode}\n{ended.stdout}{ended.stderr}")
        return ended.stdout

    def verify(self) -> None:
        """Nothing is wrong but a clock: an emulated machine has one of its own. @raise LabFailed: something is."""
        self.ok("gnt-cluster", "verify", "--ignore-errors", "ENODETIME")

    def environment(self) -> dict[str, str]:
        """What a program needs in order to run as on the master."""
        shell = [sys.executable, "-m", "ganeti_tx.test.lab", "--state", str(self.lab.state), "ssh"]
        return {
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "GANETI_ROOTDIR": str(self.root),
            "GANETI_HOSTNAME": MASTER,
            "GANETI_REMOTE_SHELL": shlex.join(shell),
            REMOTE_LIMIT_VARIABLE: f"{COMMAND_LIMIT:.0f}",
        }

    def power_up(self, machine: Machine) -> None:
        """Switch a machine on again whose power was cut, with its node daemon."""
        machine.boot()
        machine.wait()
        machine.run(START, limit=COMMAND_LIMIT)

    def start_nodes(self) -> None:
        """Start the node daemons that do not run, as a test may have cut a machine's power without this cluster."""
        for machine in self.lab.machines:
            machine.run(f"ss -Hltn 'sport = :1811' | grep -q . || {START}", limit=COMMAND_LIMIT)

    def down(self) -> None:
        """End what runs outside; the machines are taken down with their lab."""
        end_all(self.top)

    def _prepare(self) -> None:
        """What a node's administrator would write."""
        hosts = [f"{address(OUTSIDE)} {MASTER}", f"{CLUSTER_ADDRESS} {CLUSTER}"]
        hosts += [f"{address(machine.node)} {self.node_name(machine)}" for machine in self.lab.machines]
        files = (FILE_STORAGE, SHARED_FILE_STORAGE)
        for name in ("etc/ganeti", "srv/ganeti/os", *(each.lstrip("/") for each in files)):
            (self.root / name).mkdir(parents=True)
        (self.root / "etc/hosts").write_text("\n".join([*hosts, ""]))
        (self.root / "etc/ganeti/file-storage-paths").write_text(
            "".join(f"{self.root}{each}\n{each}\n" for each in files)
        )
