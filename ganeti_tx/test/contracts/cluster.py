"""What every cluster does, told in command lines: for one in this process, and for one of real processes.

Each scenario makes names of its own and leaves nothing behind.
"""

import re
from collections.abc import Callable, Sequence

from attrs import frozen

#: Runs one command line on the master: its exit status, what it wrote, what it complained of.
Run = Callable[[Sequence[str]], tuple[int, str, str]]


@frozen
class Scene:
    """A cluster at hand: its nodes' full names, the master's first, and an OS definition that all have."""

    run: Run
    nodes: Sequence[str]
    os: str

    def ok(self, line: str) -> str:
        """What a command that must succeed wrote."""
        status, out, err = self.run(line.split())
        if status != 0:
            raise AssertionError(f"{line!r} ended with {status}: {out}{err}")
        return out

    def fails(self, line: str, reason: str) -> str:
        """What a command that must fail for a reason complained of."""
        status, out, err = self.run(line.split())
        if status == 0 or not re.search(reason, err):
            raise AssertionError(f"{line!r} ended with {status}, wanted was a failure with {reason!r}: {out}{err}")
        if "Traceback" in out + err:
            raise AssertionError(f"{line!r} shows a traceback: {err}")
        return err

    def field(self, kind: str, name: str, field: str) -> str:
        """One field of one object, as `list` shows it."""
        return self.ok(f"gnt-{kind} list --no-headers -o {field} {name}").strip()

    def submit(self, line: str) -> int:
        """The id of the job of a command that does not wait."""
        status, out, err = self.run(line.split())
        found = re.search(r"^JobID: (\d+)$|^(\d+): ", err + out, re.MULTILINE)
        if status != 0 or found is None:
            raise AssertionError(f"{line!r} ended with {status} and shows no job id: {out}{err}")
        return int(found[1] or found[2])


def add_line(scene: Scene, name: str, template: str = "file", options: str = "") -> str:
    """The command that makes a small instance on the last node."""
    disk = "" if template == "diskless" else "-s 1G"
    where = f"-n {scene.nodes[-1]} -o {scene.os}"
    return f"gnt-instance add -t {template} {disk} {where} --no-name-check --no-ip-check {options} {name}"


def nodes_are_listed(scene: Scene) -> None:
    """Every node is there, and the master knows itself."""
    assert scene.ok("gnt-node list --no-headers -o name").split() == sorted(scene.nodes)
    assert scene.ok("gnt-cluster getmaster").strip() == scene.nodes[0]


def instance_lives(scene: Scene, template: str = "file") -> None:
    """An instance is made, runs, is stopped, started and restarted, and is gone in the end."""
    name = f"life-{template}.example.com"
    scene.ok(add_line(scene, name, template))
    assert scene.field("instance", name, "status") == "running"
    assert scene.field("instance", name, "pnode") == scene.nodes[-1]
    assert f"Instance name: {name}" in scene.ok(f"gnt-instance info {name}")
    scene.ok(f"gnt-instance shutdown --timeout 10 {name}")
    assert scene.field("instance", name, "status") == "ADMIN_down"
    scene.ok(f"gnt-instance startup {name}")
    assert scene.field("instance", name, "status") == "running"
    scene.ok(f"gnt-instance reboot {name}")
    assert scene.field("instance", name, "status") == "running"
    scene.ok(f"gnt-instance remove -f --shutdown-timeout 10 {name}")
    assert name not in scene.ok("gnt-instance list --no-headers -o name").split()


def names_are_unique(scene: Scene) -> None:
    """A name that is taken is refused, and the instance that has it is not touched."""
    name = "twice.example.com"
    scene.ok(add_line(scene, name, options="--no-start --no-install"))
    scene.fails(add_line(scene, name), "already")
    assert scene.field("instance", name, "status") == "ADMIN_down"
    scene.ok(f"gnt-instance remove -f {name}")


def mistakes_are_explained(scene: Scene) -> None:
    """What is not there is named in the error, and nothing is left of the attempt."""
    name = "mistake.example.com"
    where = "--no-name-check --no-ip-check"
    scene.fails(f"gnt-instance add -t file -s 1G -n nowhere -o {scene.os} {where} {name}", "nowhere")
    scene.fails(f"gnt-instance add -t file -s 1G -n {scene.nodes[0]} -o no-such-os {where} {name}", "no-such-os")
    scene.fails(f"gnt-instance add -t file -s nonsense -n {scene.nodes[0]} -o {scene.os} {where} {name}", "nonsense")
    scene.fails(f"gnt-instance startup {name}", "does not match any instances")
    scene.fails("gnt-node remove no-such-node", "no-such-node")
    assert name not in scene.ok("gnt-instance list --no-headers -o name").split()


def tags_come_and_go(scene: Scene) -> None:
    """Tags can be set on cluster, nodes and instances, are listed in order, and can be removed."""
    scene.ok(add_line(scene, "tagged.example.com", "diskless", "--no-start --no-install"))
    for target in ("gnt-cluster {}", f"gnt-node {{}} {scene.nodes[-1]}", "gnt-instance {} tagged.example.com"):
        scene.ok(f"{target.format('add-tags')} web alpha")
        assert scene.ok(target.format("list-tags")).split() == ["alpha", "web"], target
        scene.ok(f"{target.format('remove-tags')} web alpha")
        assert scene.ok(target.format("list-tags")).split() == [], target
    scene.ok("gnt-instance remove -f tagged.example.com")


def networks_hold_instances(scene: Scene) -> None:
    """Instances take addresses of a network that their group has, keep them while stopped, and give them back."""
    name, free = "meshed.example.com", lambda: scene.field("network", "mesh", "free_count")
    scene.ok("gnt-network add --network=10.77.0.0/28 --gateway=10.77.0.1 --tags=one mesh")
    scene.fails(add_line(scene, name, "diskless", "--net 0:network=mesh,ip=pool"), "not connected")
    scene.ok("gnt-network connect -N mode=routed,link=100 mesh")
    scene.ok(add_line(scene, name, "diskless", "--net 0:network=mesh,ip=pool --net 1:network=mesh,ip=10.77.0.9"))
    assert scene.field("instance", name, "nic.ips") == "10.77.0.2,10.77.0.9"
    assert free() == "11"
    info = scene.ok("gnt-network info mesh")
    assert f"    {name}: 0:10.77.0.2, 1:10.77.0.9\n" in info and " XXX......X.....X " in info, info
    scene.ok(f"gnt-instance reboot {name}")
    taken = add_line(scene, "other.example.com", "diskless", "--net 0:network=mesh,ip=10.77.0.9")
    scene.fails(taken, "already in use")
    scene.fails("gnt-network disconnect mesh", "Conflicting IP addresses")
    scene.fails("gnt-network remove mesh", "still connected")
    scene.ok(f"gnt-instance remove -f --shutdown-timeout 10 {name}")
    assert free() == "13"
    scene.ok("gnt-network modify --gateway=10.77.0.14 --add-reserved-ips=10.77.0.3 mesh")
    assert scene.field("network", "mesh", "external_reservations") == "10.77.0.0, 10.77.0.3, 10.77.0.14, 10.77.0.15"
    scene.ok("gnt-network disconnect mesh")
    scene.ok("gnt-network remove mesh")
    assert scene.ok("gnt-network list --no-headers -o name").split() == []


def instances_are_changed(scene: Scene) -> None:
    """Parameters, disks and interfaces change while an instance runs and while it does not; what cannot be is refused."""
    name, modify = "changing.example.com", "gnt-instance modify"
    scene.ok(add_line(scene, name, options="-H fake -B maxmem=256,minmem=128"))
    told = scene.ok(f"{modify} --hotplug --disk add:size=1G,name=log --net add:mode=routed,link=1,ip=10.9.0.1 {name}")
    assert " - disk/1 -> hotplug:done\n" in told and " - nic.1 -> hotplug:done\n" in told, told
    assert scene.field("instance", name, "disk.count,nic.count").split() == ["2", "2"]
    scene.ok(f"{modify} -m 140 -B vcpus=2 {name}")
    assert scene.field("instance", name, "oper_ram,be/vcpus").split() == ["140M", "2"]
    scene.fails(f"{modify} --disk log:remove {name}", "without using hotplug")
    scene.fails(f"{modify} -B vcpus=99 {name}", "violates policy")
    scene.ok(f"gnt-instance shutdown --timeout 10 {name}")
    scene.ok(f"{modify} --disk log:detach --net 1:remove --offline {name}")
    scene.fails(f"gnt-instance startup {name}", "offline")
    scene.ok(f"{modify} --disk attach:name=log --disk 0:remove --online {name}")
    found = scene.field("instance", name, "disk.name/0,disk.count,nic.count").split()
    assert found == ["log", "1", "1"], found
    scene.ok(f"gnt-instance startup {name}")
    scene.ok(f"gnt-instance remove -f --shutdown-timeout 10 {name}")


def jobs_can_be_followed(scene: Scene) -> None:
    """A job can be waited for and looked at; once it has ended it cannot be cancelled."""
    first = scene.submit("gnt-debug delay --submit 0.1")
    scene.ok(f"gnt-job wait {first}")
    assert scene.field("job", str(first), "status") == "success"
    status, out, _ = scene.run(["gnt-job", "cancel", str(first)])
    assert status != 0 and "finished" in out, out
    assert scene.ok(f"gnt-job info {first}").startswith(f"- Job ID: {first}")


def configuration_is_sound(scene: Scene) -> None:
    """The cluster finds nothing wrong with itself, and nobody holds a lock when no job runs."""
    scene.ok("gnt-cluster verify")
    held = [line.split() for line in scene.ok("gnt-debug locks --no-headers -o name,mode,owner").splitlines()]
    assert [each for each in held if each[1:2] not in ([], ["-"])] == [], held


class ClusterContract:
    """The scenarios as tests; who mixes it in brings `scene`."""

    def scene(self) -> Scene:
        """The cluster at hand."""
        raise NotImplementedError

    def test_nodes(self) -> None:
        """Every node is there, and the master knows itself."""
        nodes_are_listed(self.scene())

    def test_life_on_files(self) -> None:
        """An instance with a disk in a file lives from its creation to its removal."""
        instance_lives(self.scene())

    def test_life_without_disks(self) -> None:
        """So does one without disks."""
        instance_lives(self.scene(), "diskless")

    def test_names(self) -> None:
        """A name that is taken is refused."""
        names_are_unique(self.scene())

    def test_mistakes(self) -> None:
        """What is not there is named in the error."""
        mistakes_are_explained(self.scene())

    def test_tags(self) -> None:
        """Tags come and go."""
        tags_come_and_go(self.scene())

    def test_networks(self) -> None:
        """Networks hold instances."""
        networks_hold_instances(self.scene())

    def test_changes(self) -> None:
        """Instances are changed."""
        instances_are_changed(self.scene())

    def test_jobs(self) -> None:
        """Jobs can be followed; what has ended cannot be cancelled."""
        jobs_can_be_followed(self.scene())

    def test_soundness(self) -> None:
        """Nothing is wrong with the configuration and no lock is held."""
        configuration_is_sound(self.scene())
