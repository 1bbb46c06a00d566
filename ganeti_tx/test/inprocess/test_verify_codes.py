"""Each code of verification is produced by a real fault of a whole cluster; the run writes which one."""

from pathlib import Path

from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.verify_codes import WARNINGS, VerifyCode
from ganeti_tx.test.fakes.mirror import MirrorWire
from ganeti_tx.test.inprocess.case import ClusterCase, scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.simulation import SimulatedTime
from ganeti_tx.test.inprocess.verify_faults import FAULTS, OF_DRIVERS, ClusterFault

#: Written in the directory of the run: a line for each code with its fault and what was said.
WRITTEN = Path("verify-codes.txt")


class VerifyCodesTests(ClusterCase):
    """The table of faults."""

    def cluster_for(self, fault: ClusterFault) -> InProcessCluster:
        """A cluster with the fault."""
        time = SimulatedTime()
        wire = MirrorWire(time.seconds, rate=10.0)
        cluster = InProcessCluster(3, time=time, mirror_wire=wire, prepare=fault.prepare)
        self.addCleanup(cluster.end)
        cluster.pass_time(10)
        fault.do(cluster)
        return cluster

    def finding(self, code: VerifyCode, fault: ClusterFault) -> str:
        """What is said of it."""
        status, out, err = scene_of(self.cluster_for(fault)).run(["gnt-cluster", "verify", "--error-codes"])
        severity = "WARNING" if code in WARNINGS else "ERROR"
        start = f"  - {severity}:{code}:{code.about}:"
        found = [line for line in out.splitlines() if start in line and fault.said in line]
        self.assertTrue(found, f"{code}: {out}{err}")
        self.assertEqual(status, 1 if "- ERROR:" in out else 0, code)
        return found[0].partition("  - ")[2]

    def test_every_code(self) -> None:
        """Its fault is told, under it, about the object that the table says, as an error or a warning."""
        said = [f"{code}: {fault.what}: {self.finding(code, fault)}\n" for code, fault in FAULTS.items()]
        WRITTEN.write_text("".join(said))
        self.assertEqual(len(WRITTEN.read_text().splitlines()), len(FAULTS))

    def test_complete(self) -> None:
        """No code is left out but those of drivers that are not there."""
        self.assertEqual({*FAULTS, *OF_DRIVERS}, set(VerifyCode))
        self.assertEqual([code for code, template in OF_DRIVERS.items() if TEMPLATES[template].available], [])
