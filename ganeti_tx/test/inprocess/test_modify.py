"""Changes of instances in a whole cluster: on several templates, while they run, over the Remote API and LUXI."""

from typing import Any

import msgspec

from ganeti_tx.model.disk import Disk
from ganeti_tx.rpc.calls.hotplug import HotplugDevice
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.each_call import SAYS_NO
from ganeti_tx.test.inprocess.test_adoption import ADD as ADOPT
from ganeti_tx.test.inprocess.test_adoption import ENABLE, DeviceCase
from ganeti_tx.test.inprocess.test_rapi import WEB, RapiCase

ADD = "gnt-instance add -t {} --disk 0:size=1G,name=root --disk 1:size=2G,name=log -o noop -H {} -n node2 {}web1"
MODIFY = "gnt-instance modify"


def machine_of(case: ClusterCase, name: str = WEB) -> Any:
    """What the fake hypervisor of node2 knows of an instance that runs."""
    path = case.cluster.paths.run_dir / "fake-hypervisor" / name
    return msgspec.json.decode(case.cluster.node(2).disk.read(path, 1 << 20))


class TemplateTests(DeviceCase):
    """Disks come, leave and come back, on each template that has disks."""

    def disks(self) -> list[Disk]:
        """Those of web1."""
        [instance] = self.cluster.config.instances.values()
        return [self.cluster.config.disks[uuid] for uuid in instance.disks]

    def agreed(self) -> None:
        """All is on the nodes as it is configured."""
        self.assertEqual(disagreements(self.cluster), [])

    def test_files(self) -> None:
        """In files, local and shared, on an instance that is down and on one that runs."""
        self.ok("gnt-cluster modify --enabled-disk-templates file,sharedfile,diskless")
        for template in ("file", "sharedfile"):
            for start in ("--no-start ", ""):
                self.ok(ADD.format(template, "fake", start))
                self.ok(f"{MODIFY} --hotplug-if-possible --disk add:size=3G,name=new --disk root:remove web1")
                self.assertEqual(
                    [(disk.name, disk.iv_name) for disk in self.disks()], [("log", "disk/0"), ("new", "disk/1")]
                )
                self.agreed()
                self.ok(f"{MODIFY} --hotplug-if-possible --disk log:detach web1")
                self.agreed()
                self.ok(f"{MODIFY} --hotplug-if-possible --disk 0:attach,name=log --disk new:mode=ro web1")
                self.assertEqual([(disk.name, disk.mode) for disk in self.disks()], [("log", "rw"), ("new", "ro")])
                self.agreed()
                self.ok("gnt-instance remove -f web1")
                self.agreed()

    def test_block_devices(self) -> None:
        """A device that is there becomes a disk, and stays when it leaves."""
        self.ok(ENABLE)
        self.ok(ADOPT)
        self.ok(f"{MODIFY} --hotplug --disk add:adopt=/dev/disk/by-id/lun1 web1")
        self.assertEqual([disk.size for disk in self.disks()], [2048, 2048])
        self.fails(f"{MODIFY} --disk add:adopt=/dev/disk/by-id/lun1 web1", "it is instance web1's")
        self.ok(f"{MODIFY} --hotplug --disk 1:remove web1")
        self.assertEqual(len(self.disks()), 1)
        self.assertIn("manual//dev/disk/by-id/lun1", self.cluster.shared.devices)

    def test_last_disk(self) -> None:
        """Without its last disk an instance is diskless, and any disk can be attached then."""
        self.ok(ADD.format("file", "fake", "--no-start "))
        self.ok(f"{MODIFY} --disk log:detach --disk root:detach web1")
        self.assertIn("diskless", self.ok("gnt-instance list --no-headers -o disk_template"))
        self.fails(f"{MODIFY} --disk add:size=1G web1", "Must specify disk type on diskless instance")
        self.ok(f"{MODIFY} --disk attach:name=log web1")
        self.ok("gnt-instance startup web1")
        self.ok("gnt-instance remove -f web1")


class LiveTests(ClusterCase):
    """While the instance runs."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(ADD.format("file", "fake", "").replace("-n node2", "-B maxmem=256,minmem=128 -n node2"))

    def test_devices(self) -> None:
        """The machine gets what it is said to have, and gets rid of the rest; without hotplug it stays as it is."""
        self.ok(f"{MODIFY} --hotplug --net add:name=in --disk add:size=1G --disk root:remove web1")
        machine = machine_of(self)
        [instance] = self.cluster.config.instances.values()
        self.assertEqual(set(machine["disks"]), set(instance.disks))
        self.assertEqual(list(machine["nics"]), [nic.uuid for nic in instance.nics])
        self.ok(f"{MODIFY} --net in:remove web1")
        self.assertEqual(machine_of(self)["nics"], machine["nics"])
        self.fails(
            f"{MODIFY} --disk 0:remove web1", "can't remove volume from a running instance without using hotplug"
        )

    def links(self) -> dict[str, str]:
        """The stable names of disks on node2, and where they lead."""
        directory, disk = self.cluster.paths.instance_disks_dir, self.cluster.node(2).disk
        return {name: disk.readlink(directory / name) for name in disk.listdir(directory)}

    def test_stable_names(self) -> None:
        """They lead to the disks in their order, also when a disk comes first, leaves, or could not come."""
        for change in ("--disk 0:add,size=3G", "--disk root:remove", "--disk add:size=1G --disk 0:remove"):
            self.ok(f"{MODIFY} --hotplug {change} web1")
            [instance] = self.cluster.config.instances.values()
            disks = [self.cluster.config.disks[uuid] for uuid in instance.disks]
            wanted = {f"{WEB}:{index}": str((disk.logical_id or ("",))[-1]) for index, disk in enumerate(disks)}
            self.assertEqual(self.links(), wanted)
        before = self.links()
        self.cluster.network.fault = lambda node, call: SAYS_NO if isinstance(call, HotplugDevice) else None
        self.fails(f"{MODIFY} --hotplug --disk 0:add,size=1G web1", "not today")
        self.assertEqual(self.links(), before)

    def test_memory(self) -> None:
        """Between its bounds, and beyond them when that is forced."""
        self.ok(f"{MODIFY} -m 130 web1")
        self.assertEqual(machine_of(self)["memory"], 132)
        self.fails(f"{MODIFY} -m 64 web1", "must have memory between 128 and 256 MB")
        self.ok(f"{MODIFY} -f -m 64 web1")
        self.assertEqual(machine_of(self)["memory"], 64)

    def test_growth(self) -> None:
        """The machine gets processors and memory with --hotplug, and none is taken from it."""
        self.ok(f"{MODIFY} --hotplug -B vcpus=3,maxmem=384 web1")
        machine = machine_of(self)
        self.assertEqual((machine["vcpus"], machine["memory"]), (3, 384))
        self.fails(f"{MODIFY} --hotplug -B vcpus=2 web1", "Hotplug is not possible: .*can lose neither")
        self.ok(f"{MODIFY} --hotplug-if-possible -B vcpus=2 web1")
        self.ok(f"{MODIFY} -B vcpus=4 web1")
        self.assertEqual(machine_of(self), machine)

    def test_not_running(self) -> None:
        """Devices of what does not run are not changed at once."""
        self.ok("gnt-instance shutdown web1")
        self.fails(f"{MODIFY} --hotplug --net add web1", "Hotplug is not possible: .*does not run")
        self.assertIn("Modification will take place without", self.ok(f"{MODIFY} --hotplug-if-possible --net add web1"))


class ProgramTests(RapiCase):
    """What programs send."""

    def test_remote_api(self) -> None:
        """The Remote API takes the parameters as they are, the older form of changes too; it tells what is new."""
        self.make_instance()
        self.done("PUT", f"/2/instances/{WEB}/shutdown")
        body = {
            "beparams": {"vcpus": 2},
            "nics": [["add", {"ip": "none"}], [0, {"ip": "192.0.2.202"}]],
            "disks": [["add", -1, {"size": 1024}]],
            "osparams_private": {"flavour": "mild"},
        }
        [told] = self.done("PUT", f"/2/instances/{WEB}/modify", body)
        self.assertIn(["be/vcpus", 2], told)
        self.assertIn(["disk/1", "add:size=1024,mode=rw"], told)
        self.assertIn(["os_private/flavour", "Private(?, descr='flavour')"], told)
        shown = self.send("GET", f"/2/instances/{WEB}")
        self.assertEqual((shown["beparams"]["vcpus"], shown["disk.sizes"], len(shown["nic.ips"])), (2, [1024, 1024], 2))

    def test_luxi(self) -> None:
        """So does LUXI; what is refused is told with its code, and the configuration is byte for byte as before."""
        self.make_instance()
        path = self.cluster.paths.config_file
        before = self.cluster.master.disk.read(path, 1 << 20)
        op = {"OP_ID": "OP_INSTANCE_SET_PARAMS", "instance_name": WEB, "beparams": {"vcpus": 99}, "reason": []}
        job_id = self.luxi().submit_job([op])
        self.cluster.pass_time(30)
        [result] = [each.result for each in self.job(job_id).ops]
        self.assertEqual(result[0], "OpPrereqError")
        self.assertEqual(result[1][1], "wrong_input")
        self.assertEqual(self.cluster.master.disk.read(path, 1 << 20), before)
