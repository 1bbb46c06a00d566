"""What the kernel tells of a node."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.host import CPUINFO, MEMINFO, HostFacts, parse_cpuinfo, parse_meminfo, read_host_facts
from ganeti_tx.test.fakes.files import MemoryFiles

MEMORY = "MemTotal:       16310348 kB\nMemFree:          300000 kB\nMemAvailable:    8155174 kB\nHugePages_Total: 0\n"
PROCESSORS = "processor\t: 0\nphysical id\t: 0\n\nprocessor\t: 1\nphysical id\t: 1\n"


class HostTests(SynchronousTestCase):
    """Memory and processors."""

    def test_facts(self) -> None:
        """Free memory is what is available without swapping; sockets are counted once."""
        files = MemoryFiles()
        for path, text in ((MEMINFO, MEMORY), (CPUINFO, PROCESSORS)):
            files.mkdir(path.parent)
            self.successResultOf(Deferred.fromCoroutine(files.write_atomic(path, text.encode())))
        facts = read_host_facts(files)
        self.assertEqual(facts, HostFacts(15928, 7964, 2, 2))
        info = facts.as_hv_info("7.2")
        self.assertEqual((info["memory_total"], info["memory_dom0"], info["hv_version"]), (15928, 7964, "7.2"))

    def test_no_sockets(self) -> None:
        """A kernel that tells no sockets has one; one that tells no processors has one."""
        self.assertEqual(parse_cpuinfo("processor : 0\nprocessor : 1\n"), (2, 1))
        self.assertEqual(parse_cpuinfo(""), (1, 1))

    def test_missing(self) -> None:
        """A kernel that does not tell is a clear error, not a zero."""
        self.assertIn("MemAvailable", str(self.assertRaises(HypervisorError, parse_meminfo, "MemTotal: 1 kB\n")))
        self.assertIn("/proc/meminfo", str(self.assertRaises(HypervisorError, read_host_facts, MemoryFiles())))
