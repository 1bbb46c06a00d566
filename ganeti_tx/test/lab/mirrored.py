"""An instance on a mirror between two machines of the lab: what it writes, and whether nodes and configuration agree."""

from contextlib import suppress

from attrs import frozen

from ganeti_tx.model.config_data import ConfigData, decode
from ganeti_tx.test.lab.agreement import disagreements, node_uuid
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.machine import Machine

ADD = "gnt-instance add -t drbd --disk 0:size=32m -H fake -o noop --no-install --no-name-check --no-ip-check \
--ignore-ipolicy -B memory=64"
#: MiB that are written and read.
AMOUNT = 8
DIGEST = f"bs=1M count={AMOUNT} iflag=direct status=none | sha256sum"


@frozen
class MirroredInstance:
    """Called `name`, with one disk; it may be there or not."""

    cluster: LabCluster
    name: str

    @property
    def config(self) -> ConfigData:
        """What the master knows."""
        return decode((self.cluster.root / "var/lib/ganeti/config.data").read_bytes())

    @property
    def machines(self) -> list[Machine]:
        """The two that its disk is on."""
        return self.cluster.lab.machines[:2]

    @property
    def is_known(self) -> bool:
        """Whether the configuration has it."""
        return any(each.name == self.name for each in self.config.instances.values())

    @property
    def primary(self) -> Machine:
        """Where it runs, by the configuration."""
        config = self.config
        (instance,) = (each for each in config.instances.values() if each.name == self.name)
        return next(each for each in self.machines if node_uuid(self.cluster, config, each) == instance.primary_node)

    @property
    def secondary(self) -> Machine:
        """The other one."""
        return next(each for each in self.machines if each != self.primary)

    def new(self) -> list[str]:
        """The command that makes it."""
        nodes = ":".join(self.cluster.node_name(each) for each in self.machines)
        return [*ADD.split(), "-n", nodes, self.name]

    def write(self, number: int) -> str:
        """The digest of what its primary node's device then has; another for each number. @raise LabFailed: it cannot."""
        path = f"/dev/drbd{self._minor(self.primary)}"
        line = f"[ -b {path} ] && yes written-{number} | dd of={path} bs=1M count={AMOUNT} iflag=fullblock oflag=direct status=none"
        self.primary.run(f"{line} && {self._reads(path)}")
        return self.primary.run(self._reads(path)).split()[0]

    def digests(self) -> dict[str, str]:
        """Of what the device on the primary node has, and the volume on each node."""
        config = self.config
        (disk,) = config.disks.values()
        volume = "/dev/" + "/".join(map(str, disk.children[0].logical_id or ()))
        device = f"/dev/drbd{self._minor(self.primary)}"
        found = {f"{self.primary.name}: {device}": self.primary.run(self._reads(device)).split()[0]}
        return found | {f"{each.name}: {volume}": each.run(self._reads(volume)).split()[0] for each in self.machines}

    def synchronise_at(self, rate: int) -> None:
        """KiB a second; both machines are told."""
        for machine in self.machines:
            minor = self._minor(machine)
            machine.run(f"drbdsetup disk-options {minor} --resync-rate={rate}k --c-plan-ahead=0")

    def fill(self, machine: Machine) -> None:
        """All data are carried over to a side once more."""
        machine.run(f"drbdsetup invalidate {self._minor(machine)}")

    def volume(self, machine: Machine) -> str:
        """The device of its data on a machine."""
        (disk,) = self.config.disks.values()
        return "/dev/" + "/".join(map(str, disk.children[0].logical_id or ()))

    def disagreements(self) -> list[str]:
        """What the nodes have and the configuration has not, and the other way round; what is not alike on both nodes."""
        return list(disagreements(self.cluster, self.config, self.machines))

    def _minor(self, machine: Machine) -> int:
        config = self.config
        (disk,) = config.disks.values()
        return dict(disk.minors)[node_uuid(self.cluster, config, machine)]

    @staticmethod
    def _reads(path: str) -> str:
        return f"dd if={path} {DIGEST}"

    def remove(self) -> None:
        """It, and whatever is left on the machines."""
        if self.is_known:
            self.cluster.run("gnt-instance", "remove", "-f", "--ignore-failures", self.name)
        for machine in self.machines:
            with suppress(LabFailed):
                machine.run(CLEAN)


CLEAN = """
for each in $(drbdsetup show | awk '$1 == "resource" {print $2}'); do drbdsetup down $each; done
lvs --noheadings -o lv_name xenvg | while read each; do lvremove -f xenvg/$each; done
"""
