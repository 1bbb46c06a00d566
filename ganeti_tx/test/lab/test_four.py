"""Instances on four machines, to which much is done at a time: in the end each volume and each mirror is one of theirs."""

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from twisted.trial.unittest import SkipTest

from ganeti_tx.model.config_data import ConfigData, decode
from ganeti_tx.test.lab.agreement import disagreements, node_uuid
from ganeti_tx.test.lab.case import Chosen, LabCase, the_cluster
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.times import PAGES_VARIABLE

FOUR = 4
ADD = "gnt-instance add -H fake -o noop --no-install --no-ip-check --no-name-check --no-nics --ignore-ipolicy"
ADD += " -B minmem=100,maxmem=100"
STARTED = "gnt-instance startup {name}"
#: What is done to each, by its name.
MADE = {
    "web1": [f"{ADD} -t plain --disk 0:size=8m --disk 1:size=16m -n node1 {{name}}", STARTED],
    "web2": [f"{ADD} -t drbd --disk 0:size=16m -n node1:node2 {{name}}", STARTED],
    "web3": [f"{ADD} -t drbd --disk 0:size=16m --disk 1:size=8m -n node3:node4 {{name}}", STARTED],
    "web4": [f"{ADD} -t drbd --disk 0:size=16m -n node2:node3 {{name}}", STARTED],
}
CHANGED = {
    "web1": [
        "gnt-instance shutdown --timeout 0 {name}",
        "gnt-instance modify -t drbd -n node4 {name}",
        "gnt-instance startup {name}",
    ],
    "web2": ["gnt-instance replace-disks -n node4 {name}"],
    "web3": ["gnt-instance failover -f --shutdown-timeout 0 {name}", "gnt-instance grow-disk {name} 1 8m"],
    "web4": ["gnt-instance migrate -f {name}", "gnt-instance replace-disks -s {name}"],
}
#: When the third machine has no power, and when it has again.
SAVED = {"web4": ["gnt-instance failover -f --ignore-consistency {name}"]}
MENDED = {name: ["gnt-instance activate-disks --wait-for-sync {name}"] for name in ("web3", "web4")}
REMOVED = {name: ["gnt-instance remove -f --shutdown-timeout 0 {name}"] for name in MADE}
#: MiB of each disk that are written and read.
AMOUNT = 8
QUESTIONS = ("lvs -o lv_name,lv_size,lv_tags xenvg", "drbdsetup status")
NAME = "lab-devices.rst"
HEAD = """\
What four machines have at the end of a campaign
================================================

``bin/lab campaign --pages`` writes this page (``ganeti_tx/test/lab/test_four.py``). Four instances were made at a time on four
machines with LVM and DRBD; then, again at a time, one was converted from plain volumes to mirrors, one got another secondary node,
one was failed over and a disk of it grown, one was migrated and the volumes of its secondary node replaced; the power of a machine
was cut, what ran there was failed over, the machine came back and the disks were made ready. This is what each machine had then: no
volume and no mirror but those of the instances' disks. When the instances had been removed, no machine had any.
"""


class FourMachinesTests(Chosen, LabCase):
    """As many as the campaign has."""

    always = frozenset()
    timeout = 1800

    def setUp(self) -> None:
        """@raise SkipTest: there are fewer."""
        super().setUp()
        if len(self.machines) < FOUR:
            raise SkipTest("needs four machines: 'bin/lab up --count 4', whose directory GANETI_LAB names")
        self.cluster: LabCluster = the_cluster()

    def do(self, lines: Mapping[str, Iterable[str]]) -> None:
        """What is to be done to each instance, for all of them at a time."""

        def script(name: str) -> None:
            for line in lines[name]:
                self.cluster.ok(*line.format(name=name).split())

        with ThreadPoolExecutor(len(lines)) as pool:
            list(pool.map(script, lines))

    @property
    def config(self) -> ConfigData:
        """What the master knows."""
        return decode((self.cluster.root / "var/lib/ganeti/config.data").read_bytes())

    def devices(self) -> Iterator[tuple[str, Machine, str]]:
        """Of each disk: its name, and the devices that have its data, each with its machine; that which is written to first."""
        config = self.config
        homes = {str(node_uuid(self.cluster, config, machine)): machine for machine in self.machines}
        for instance in sorted(config.instances.values(), key=lambda each: each.name):
            for number, uuid in enumerate(instance.disks):
                disk, name = config.disks[uuid], f"{instance.name} {number}"
                minors = {str(node): minor for node, minor in disk.minors}
                if minors:
                    yield name, homes[instance.primary_node], f"/dev/drbd{minors[instance.primary_node]}"
                volume = disk.children[0] if disk.children else disk
                for node in disk.nodes:
                    yield name, homes[node], "/dev/" + "/".join(map(str, volume.logical_id or ()))

    def write(self) -> dict[str, str]:
        """Something else to each disk; gives the digests."""
        first = {name: (machine, path) for name, machine, path in reversed([*self.devices()])}
        for name, (machine, path) in first.items():
            written = f"yes '{name}' | dd of={path} bs=1M count={AMOUNT} iflag=fullblock oflag=direct status=none"
            machine.run(f"[ -b {path} ] && {written}")
        return {name: self.digest(machine, path) for name, (machine, path) in first.items()}

    def digest(self, machine: Machine, path: str) -> str:
        """Of what was written."""
        return machine.run(f"dd if={path} bs=1M count={AMOUNT} iflag=direct status=none | sha256sum").split()[0]

    def test_no_orphan(self) -> None:
        """Volumes and mirrors are those of the configuration, with what was written; none is left."""
        self.addCleanup(self.remove)
        self.do(MADE)
        written = self.write()
        self.do(CHANGED)
        third = self.machines[2]
        self.addCleanup(lambda: None if third.is_on else self.cluster.power_up(third))
        third.cut()
        self.do(SAVED)
        self.cluster.power_up(third)
        self.do(MENDED)
        self.assertEqual([*disagreements(self.cluster, self.config, self.machines)], [])
        self.cluster.verify()
        wrong = [each for each in self.devices() if self.digest(*each[1:]) != written[each[0]]]
        self.assertEqual(wrong, [])
        page = "\n".join([HEAD, *self.told()])
        self.do(REMOVED)
        for machine in self.machines:
            self.assertEqual(machine.run("lvs --noheadings -o lv_name xenvg; grep cs: /proc/drbd || true").split(), [])
        if pages := os.environ.get(PAGES_VARIABLE):
            (Path(pages) / NAME).write_text(page)

    def told(self) -> Iterator[str]:
        """What instances there are, and what each machine has, by its own words."""
        listed = ["gnt-instance", "list", "-o", "name,disk_template,pnode,snodes,status"]
        yield from literal("The master", " ".join(listed), self.cluster.ok(*listed))
        for machine in self.machines:
            for question in QUESTIONS:
                yield from literal(machine.name, question, machine.run(question))

    def remove(self) -> None:
        """What a failure has left."""
        for name in MADE:
            self.cluster.run("gnt-instance", "remove", "-f", "--ignore-failures", "--shutdown-timeout", "0", name)


def literal(where: str, command: str, told: str) -> Iterator[str]:
    """A command and what it said."""
    yield from (f"{where}, ``{command}``::", "")
    yield from (f"   {line}".rstrip() for line in told.strip("\n").splitlines())
    yield ""
