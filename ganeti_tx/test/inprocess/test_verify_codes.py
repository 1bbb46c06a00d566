"""Each code of verification is produced by a fault of a whole cluster; doc/verify-codes.rst says which one, and what was told."""

from pathlib import Path

from ganeti_tx.model.verify_codes import WARNINGS, VerifyCode
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.inprocess.case import ClusterCase, scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.simulation import SimulatedTime
from ganeti_tx.test.inprocess.verify_faults.fault import ClusterFault
from ganeti_tx.test.inprocess.verify_faults.page import Produced, check, page
from ganeti_tx.test.inprocess.verify_faults.places import LAB
from ganeti_tx.test.inprocess.verify_faults.table import FAULTS

#: Where the page is written when it does not say what was found.
WRITTEN = Path("verify-codes.rst")
MACHINES = Path(__file__).parents[1] / "lab"


class VerifyCodesTests(ClusterCase):
    """The table of faults."""

    maxDiff = None

    def cluster_for(self, fault: ClusterFault) -> InProcessCluster:
        """A cluster with the fault."""
        time = SimulatedTime()
        wire = MirrorWire(time.seconds, rate=10.0)
        cluster = InProcessCluster(3, time=time, mirror_wire=wire, prepare=fault.prepare)
        self.addCleanup(cluster.end)
        cluster.pass_time(10)
        fault.do(cluster)
        return cluster

    def finding(self, fault: ClusterFault) -> str:
        """What is said of it; if that is not what should be, what is said of everything."""
        code = fault.code
        status, out, err = scene_of(self.cluster_for(fault)).run(["gnt-cluster", "verify", "--error-codes"])
        severity = "WARNING" if fault.warning else "ERROR"
        start = f"  - {severity}:{code}:{code.about}:"
        found = [line for line in out.splitlines() if start in line and fault.said in line]
        self.assertEqual(status, 1 if "- ERROR:" in out else 0, code)
        if not found:
            self.wrong.append(f"{code}: {fault.what}: {out}{err}")
        return found[0].partition("  - ")[2] if found else ""

    def test_every_code(self) -> None:
        """Each fault is told, under its code, about the object that the table says, as an error or a warning."""
        self.wrong: list[str] = []
        found: dict[VerifyCode, list[Produced]] = {}
        for fault in FAULTS:
            found.setdefault(fault.code, []).append((fault.what, self.finding(fault)))
        self.assertEqual("\n".join(self.wrong), "")
        check(page(found), WRITTEN)

    def test_machines(self) -> None:
        """The tests that run on machines look for the codes that the page says they see."""
        wrong = [code for code, test in LAB.items() if code not in (MACHINES / f"{test}.py").read_text()]
        self.assertEqual(wrong, [])

    def test_complete(self) -> None:
        """No code is left out; those that are always warnings are warnings."""
        self.assertEqual({fault.code for fault in FAULTS}, set(VerifyCode))
        self.assertEqual([fault.what for fault in FAULTS if fault.code in WARNINGS and not fault.warning], [])
