"""What xl 4.17 really wrote, read."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.xen.listed import CRASHED, DYING, SHUTDOWN, SUSPEND, Domain, parse_list
from ganeti_tx.node.hypervisor.xen.node_facts import hv_info
from ganeti_tx.node.hypervisor.xen.own import find, lives, seen
from ganeti_tx.node.hypervisor.xen.record import DomainRecord
from ganeti_tx.node.hypervisor.xen.toolstack import reason
from ganeti_tx.runtime.process import ProcessResult

CAPTURES = Path(__file__).parent / "captures"
WEB, UUID = "web1.example.com", "7e5d71e6-e557-11f1-8a6f-59eac4c0e071"
RECORD = DomainRecord(uuid=UUID, memory=128, vcpus=1)


#: What is told of scripts that failed, as it was recorded.
REASONS = {
    "xl_create_script_fails": "xen-ifup-custom: no cable is left",
    "xl_create_script_slow": "killing execution of /etc/xen/scripts/block add because of timeout",
}


def captured(name: str) -> str:
    """An output."""
    return (CAPTURES / f"{name}.txt").read_text()


class ListTests(SynchronousTestCase):
    """The long list."""

    def test_long(self) -> None:
        """Every line below the heading is a domain, with its uuid."""
        self.assertEqual(
            parse_list(captured("xl_list_v"))[1], Domain(WEB, 1, 128, 1, "blocked", 8.1, UUID),
        )  # fmt: skip

    def test_reason(self) -> None:
        """Of one that has shut down, why."""
        text = captured("xl_list_v").replace("-b----", "---s--").replace(f"{UUID}        -", f"{UUID}        2")
        domain = parse_list(text)[1]
        self.assertEqual((domain.state, domain.reason), (SHUTDOWN, SUSPEND))

    def test_other_text(self) -> None:
        """What xl does not write is an error."""
        for text in ("", "libxl: error", captured("xl_list_v").replace("-b----", "-x----")):
            self.assertRaises(HypervisorError, parse_list, text)

    def test_ours(self) -> None:
        """The one with our uuid, whatever name a migration has given it; one that dies slowly only if there is no other."""
        other = Domain(WEB, 4, 1, 1, "running", 0.0, "0" * 36)
        going = Domain(f"{WEB}--migratedaway", 5, 1, 1, SHUTDOWN, 0.0, UUID, SUSPEND)
        dying = Domain(WEB, 6, 1, 1, DYING, 0.0, UUID)
        self.assertIsNone(find([other], WEB, RECORD))
        self.assertEqual(find([other, dying, going], WEB, RECORD), going)
        self.assertEqual(find([other, dying], WEB, RECORD), dying)
        self.assertTrue(lives(going))
        for state in (DYING, CRASHED):
            self.assertIsNone(seen(WEB, Domain(WEB, 7, 1, 1, state, 0.0, UUID), RECORD))


class NodeTests(SynchronousTestCase):
    """What a node has."""

    def test_info(self) -> None:
        """Memory that no domain has is Xen's own."""
        lines = (line.partition(":") for line in captured("xl_info").splitlines())
        told = {name.strip(): value.strip() for name, _, value in lines}
        info = hv_info(told, parse_list(captured("xl_list_v"))[:1])
        self.assertEqual(
            info,
            {
                "memory_total": 1535, "memory_free": 748, "memory_dom0": 768, "memory_hv": 19, "cpu_total": 1, "cpu_nodes": 1,
                "cpu_sockets": 1, "cpu_dom0": 1, "hv_version": "4.17.7",
            },
        )  # fmt: skip
        self.assertRaises(HypervisorError, hv_info, {**told, "nr_cpus": "many"}, [])


class ReasonTests(SynchronousTestCase):
    """Why xl failed."""

    def test_first(self) -> None:
        """The first line of libxl's, without the place in its source; else the last words."""
        said = captured("xl_create_exists").encode()
        self.assertEqual(reason(ProcessResult(status=3, stderr=said)), f'Domain with name "{WEB}" already exists.')
        for capture, why in REASONS.items():
            self.assertEqual(reason(ProcessResult(status=3, stderr=captured(capture).encode())), why)
        self.assertIn(
            "rc=-6", reason(ProcessResult(status=1, stderr=b"nosuch is an invalid domain identifier (rc=-6)\n"))
        )
