"""Which control groups a container may ask for on a node."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.lxc.control_groups import CONTROLLERS, KNOWN, ControlGroups
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.inprocess.disk import put

LISTED = b"#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t0\t60\t1\nblkio\t0\t60\t1\n"


class ControlGroupsTests(SynchronousTestCase):
    """A kernel with two of the first version."""

    def test_unknown(self) -> None:
        """What the kernel does not list is told with what it does; where it lists none, or needs none, all are believed."""
        files = MemoryFiles()
        groups = ControlGroups(files, FakeProcessRunner())
        self.assertEqual(groups.unknown(["blkoi"]), [])
        put(files, KNOWN, LISTED)
        self.assertEqual(groups.unknown(["blkio", "cpuset"]), [])
        wrong = "extra_cgroups: 'blkoi' is not known to this node's kernel; known are cpuset, blkio"
        self.assertEqual(groups.unknown(["blkoi"]), [wrong])
        put(files, CONTROLLERS, b"cpuset io\n")
        self.assertEqual(groups.unknown(["blkoi"]), [])
