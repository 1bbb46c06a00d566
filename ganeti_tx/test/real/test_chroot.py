"""The driver of chroots keeps the contract with real processes; starts that fail leave nothing."""

import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.threads import deferToThread

from ganeti_tx.model.hypervisors.chroot import ChrootParams
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.chroot.hypervisor import ChrootHypervisor
from ganeti_tx.node.hypervisor.chroot.layout import chroot_layout
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.test.contracts.hypervisor import HypervisorContract
from ganeti_tx.test.real.chroot_node import SCRIPT, ChrootNode, why_not
from ganeti_tx.test.real.kvm_node import until


class ChrootTests(HypervisorContract):
    """Instances without disks, whose roots are small trees."""

    timeout = 120
    shown_with = "processes of a small system"
    skip = why_not()
    node: ChrootNode
    driver: ChrootHypervisor

    async def prepare(self) -> None:
        """See `HypervisorContract`."""
        self.node = ChrootNode()
        self.addCleanup(self.node.clear)

    def new_driver(self) -> ChrootHypervisor:
        """See `HypervisorContract`."""
        return self.node.driver()

    def remains(self) -> list[str]:
        """See `HypervisorContract`."""
        return self.node.remains()

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """See `HypervisorContract`."""
        if not self.node.tree(name or self.name).exists():
            self.node.make_tree(name or self.name)
        filled = {**msgspec.to_builtins(ChrootParams()), **hvparams}
        return msgspec.structs.replace(super().spec(name), hypervisor="chroot", hvparams=filled)

    def root(self) -> Path:
        """Where the root of the instance is mounted, as the kernel names it."""
        return chroot_layout(self.node.paths, self.name).root.resolve()

    def log(self) -> str:
        """What its script has said."""
        return chroot_layout(self.node.paths, self.name).log.read_text()

    def attached(self) -> AttachedDisk:
        """A disk with a small system."""
        path = str(self.node.make_disk())
        spec = DiskSpec(uuid="d0", dev_type="file", size=8, logical_id=["loop", path], index=0)
        return AttachedDisk(spec, path)

    async def fails(self, *said: str, script: str = SCRIPT, **hvparams: Any) -> None:
        """A start fails with one line that names the instance and says all this, and leaves nothing."""
        spec = self.spec(**hvparams)
        self.node.make_tree(self.name, script)
        text = await self.refused(self.driver.start(spec, []))
        for each in (self.name, *said):
            self.assertIn(each, text)
        self.assertEqual(self.remains(), [])

    async def test_inside(self) -> None:
        """What runs has the tree for its root, and its script was told of the instance, whose addresses are the node's business."""
        nic = NicSpec(uuid="n0", mac="aa:00:00:00:00:01", mode="routed", link="", ip="192.0.2.9")
        self.spec()
        self.node.make_tree(self.name, SCRIPT.replace("begins as", "has $NIC_COUNT $NIC_0_IP,"))
        await self.driver.start(msgspec.structs.replace(self.spec(), nics=[nic]), [])
        pid = int((self.node.tree(self.name) / "pid").read_text())
        self.assertEqual(os.readlink(f"/proc/{pid}/root"), str(self.root()))
        self.assertIn(f"has 1 192.0.2.9, {self.name}\n", self.log())

    async def test_asked(self) -> None:
        """Its script stops it, and what it does then is waited for; with force nobody is asked."""
        ended = self.node.tree(self.name) / "ended"
        for force in (False, True):
            await self.start()
            self.assertIsNone(await self.driver.stop(self.name, 60.0, force))
            self.assertEqual((ended.exists(), self.remains()), (not force, []))
            ended.unlink(missing_ok=True)

    async def test_deaf(self) -> None:
        """What its script does not stop is ended all the same, and what hears no signal, too, with all that was mounted."""
        self.spec()
        deaf = SCRIPT.replace("trap 'echo asked > /ended; exit 0' TERM", "trap '' TERM")
        mounting = deaf.replace("start) ", "start) busybox mount -t tmpfs none /proc; ")
        self.node.make_tree(self.name, mounting.replace("kill $pid;;", "echo it is deaf; exit 1;;"))
        await self.start()
        self.assertEqual(len(self.node.mounted()), 2)
        said = await self.driver.stop(self.name, 100_000.0)  # nobody waits when the script has failed
        told = (
            f"instance {self.name} was ended by signals: '/ganeti-chroot stop' exited with status 1: it is deaf (see "
        )
        self.assertTrue(said and said.startswith(told), said)
        self.assertEqual(self.remains(), [])

    async def test_slow_to_end(self) -> None:
        """A script that does not end, and what it has told to end and does not, have the time that the stop has, and no more."""
        for stop, why in (
            ("busybox sleep 1000;;", "stop' timed out"),
            (":;;", "of its processes still ran"),
        ):
            self.spec()
            self.node.make_tree(self.name, SCRIPT.replace("kill $pid;;", stop))
            await self.start()
            self.assertIn(why, await self.driver.stop(self.name, 0.3) or "")
            self.assertEqual(self.remains(), [])

    async def test_check_start(self) -> None:
        """A node that has no tree for an instance without disks says so before anything is done."""
        await self.driver.check_start(self.spec())
        other = msgspec.structs.replace(self.spec(), name="new1.example.com")
        self.assertIn("there is no directory", await self.refused(self.driver.check_start(other)))

    async def test_disk(self) -> None:
        """The one disk is the root; it is mounted no longer when the instance is gone."""
        disk = self.attached()
        await self.driver.start(self.spec(), [disk])
        self.assertTrue((self.root() / "lost+found").is_dir())
        await self.driver.reboot(self.spec(), [disk])
        self.assertEqual((self.root() / "ended").read_text(), "asked\n")
        await self.driver.stop(self.name, 60.0)
        self.assertEqual(self.remains(), [])
        self.assertIn("one disk", await self.refused(self.driver.start(self.spec(), [disk, disk])))

    async def test_ended(self) -> None:
        """One that ended by itself does not run, which is told without its script; it is started again, or stopped."""
        spec = await self.start()
        for again in (True, False):
            os.kill(int((self.node.tree(self.name) / "pid").read_text()), 9)
            await until(lambda: not self.node.processes())
            self.assertIsNone(await self.driver.info(self.name))
            self.assertEqual((self.driver.kept_names(), self.node.mounted()), ([self.name], [str(self.root())]))
            if again:
                await self.driver.start(spec, [])
        await self.driver.stop(self.name, 60.0)
        self.assertEqual(self.remains(), [])

    async def test_status(self) -> None:
        """What its script says of it counts; one that has nothing to say hides no other."""
        await self.start()
        await self.start("db1.example.com")
        self.node.make_tree(self.name, SCRIPT.replace("exit 3", "exit 4").replace("read pid < /pid &&", "false &&"))
        self.assertIn("'/ganeti-chroot status' exited with status 4", await self.refused(self.driver.info(self.name)))
        self.assertEqual([each.name for each in await self.driver.list_instances()], ["db1.example.com"])
        self.node.make_tree(self.name, SCRIPT.replace("read pid < /pid &&", "false &&"))
        self.assertIsNone(await self.driver.info(self.name))

    async def test_left(self) -> None:
        """A machine that its script does not know any more has its owner all the same, and what ends it is named."""
        spec = await self.start()
        told = SCRIPT.replace("read pid < /pid &&", "false &&")
        for script in (told, told.replace("exit 3", "exit 4")):
            self.node.make_tree(self.name, script)
            owner = await self.driver.owner(self.name)
            assert owner is not None
            self.assertEqual(owner.uuid, spec.uuid)
            self.assertRegex(owner.ended_by, "^kill -KILL [0-9 ]+$")
            kills = owner.ended_by.split()
        subprocess.run(kills, check=False)  # one may end with another
        await until(lambda: not self.node.processes())
        self.assertIsNone(await self.driver.owner(self.name))

    async def test_unreadable(self) -> None:
        """Where nobody knows any more what was started, what is to be removed is named; then it ends by signals."""
        await self.start()
        record = chroot_layout(self.node.paths, self.name).record
        record.write_text("{")
        self.assertIn(f"('rm {record}')", await self.refused(self.driver.owner(self.name)))
        record.unlink()
        self.assertIn("ended by signals", await self.driver.stop(self.name, 10.0) or "")
        self.assertEqual(self.remains(), [])

    async def test_not_started(self) -> None:
        """What cannot be started says why, and leaves nothing."""
        await self.fails("has no program /sbin/none (init_script)", init_script="sbin/none")
        await self.fails("exited with status 5: no such luck", script="#!/bin/sh\necho no such luck\nexit 5\n")
        await self.fails(
            "left no process running: no luck (see ", f"{self.name}.log", script="#!/bin/sh\necho no luck\n"
        )
        await self.fails("/ganeti-chroot (init_script) that can be run", script="\x7fELF")
        for wrong in ("", "/", "/a/../b", "/a\nb", "/" + "x" * 5000):
            await self.fails("init_script: ", "/ganeti-chroot", init_script=wrong)
        spec = self.spec("new1.example.com")
        subprocess.run(["rm", "-r", str(self.node.tree("new1.example.com"))], check=True)
        self.assertIn("has no disk, and there is no directory", await self.refused(self.driver.start(spec, [])))
        self.assertEqual(self.remains(), [])

    async def test_shell(self) -> None:
        """The console is a shell in the root."""
        await self.start()
        command = (await self.driver.console(self.spec())).command or []
        done = await deferToThread(
            subprocess.run, command, input="echo here > /typed\n", text=True, check=True, timeout=30
        )
        self.assertEqual((done.returncode, (self.node.tree(self.name) / "typed").read_text()), (0, "here\n"))

    async def test_taken_place(self) -> None:
        """Nothing is started, or removed, where others could have put links."""
        await self.start()
        above = self.node.paths.chroot_run_dir
        above.chmod(0o770)
        self.assertIn(f"{above} is not used", await self.refused(self.driver.stop(self.name, 0.0, force=True)))
        self.assertIn(f"{above} is not used", await self.refused(self.start("new1.example.com")))
        above.chmod(0o750)
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])
