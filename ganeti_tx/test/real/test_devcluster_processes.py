"""The end of a devcluster's processes, called from where one of its nodes is worked on."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SynchronousTestCase, TestCase

import ganeti_tx
from ganeti_tx.devcluster.error import DevclusterError
from ganeti_tx.devcluster.processes import end_all
from ganeti_tx.model.hypervisors.chroot import ChrootParams
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec
from ganeti_tx.test.real.chroot_node import ChrootNode, why_not

END_ALL = """
import sys
from pathlib import Path
from ganeti_tx.devcluster.processes import end_all
print(end_all(Path(sys.argv[1])), flush=True)
"""
LIMIT = 60


class EndTests(SynchronousTestCase):
    """A process of a node, and a shell with the node's environment."""

    def test_callers(self) -> None:
        """The shell and what reads what is printed go on; the process ends."""
        root = Path(self.mktemp()).absolute()
        (root / "node1").mkdir(parents=True)
        environment = {
            **os.environ,
            "GANETI_ROOTDIR": str(root / "node1"),
            "PYTHONPATH": str(Path(ganeti_tx.__file__).parents[1]),
        }
        with subprocess.Popen(["sleep", "1000"], env=environment, start_new_session=True) as other:
            shell = subprocess.run(
                ["/bin/sh", "-c", '"$0" -c "$1" "$2" | cat; echo goes on', sys.executable, END_ALL, str(root)],
                env=environment,
                start_new_session=True,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
            other.kill()
        self.assertEqual((shell.stdout, other.returncode), ("1\ngoes on\n", -15), shell.stderr)


class InstancesTests(TestCase):
    """An instance that is no process of its node, as one in a chroot, whose disk is mounted."""

    skip = why_not()
    timeout = LIMIT

    async def test_ended(self) -> None:
        """Nothing of it is left; while something is that is said, as an error."""
        top = Path(self.mktemp()).absolute()
        (node := ChrootNode(top / "node1")).paths.data_dir.mkdir(parents=True)
        self.addCleanup(node.clear)
        disk = DiskSpec(uuid="d0", dev_type="file", size=8, logical_id=["loop", str(node.make_disk())], index=0)
        spec = msgspec.structs.replace(
            kvm_spec(vcpus=1), hypervisor="chroot", hvparams=msgspec.to_builtins(ChrootParams())
        )
        await node.driver().start(spec, [AttachedDisk(disk, str(node.top / "disk"))])
        loops = self.loops(node)
        self.assertEqual((len(loops), bool(node.processes())), (1, True))
        record = node.paths.chroot_run_dir / spec.name
        record.chmod(0o777)
        try:
            error = await self.assertFailure(deferToThread(end_all, top), DevclusterError)
        finally:
            record.chmod(0o700)
        self.assertIn(f"not all that ran in {top} has ended: node1: ", str(error))
        await deferToThread(end_all, top)
        self.assertEqual((node.remains(), self.loops(node)), ([], []))

    def loops(self, node: ChrootNode) -> list[str]:
        """The loop devices of the disks of a node."""
        return [
            path.read_text()
            for path in Path("/sys/block").glob("loop*/loop/backing_file")
            if path.read_text().startswith(str(node.top))
        ]
