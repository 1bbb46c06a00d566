"""gnt-cluster upgrade on nodes with systemd, with a real instance that runs all the while."""

from ganeti_tx import __version__
from ganeti_tx.test.nodes.cluster_case import SystemdClusterCase
from ganeti_tx.test.nodes.test_cluster import ADD
from ganeti_tx.test.real.guest import make_guest

NEWER = "9.0.0"
#: As if pip had installed another version there.
INSTALL = f"""
cp -a /opt/ganeti_tx /opt/ganeti_tx-{NEWER} && cd /opt/ganeti_tx-{NEWER}
grep -Il /opt/ganeti_tx/ bin/* | xargs sed -i 's#/opt/ganeti_tx/#/opt/ganeti_tx-{NEWER}/#'
sed -i 's#"{__version__}"#"{NEWER}"#' lib/python*/site-packages/ganeti_tx/__init__.py
"""
#: The process of the machine, which lives.
PID = "/var/run/ganeti/kvm-hypervisor/pid/web1.example.com"
GUEST = f"cat {PID} && kill -0 $(cat {PID})"


class UpgradeTests(SystemdClusterCase):
    """Up and back."""

    count = 2

    async def test_there_and_back(self) -> None:
        """Units, links and daemons of all nodes are the other version's; the instance is the same process as before."""
        self.init(await make_guest())
        self.add_nodes()
        self.run_on(1, ADD)
        guest = self.run_on(2, GUEST)
        self.run_on(1, INSTALL)
        said = self.run_on(1, f"gnt-cluster upgrade --to {NEWER}", status=1)
        self.assertIn(f"node node2.example.com: there is no /opt/ganeti_tx-{NEWER}/bin/ganeti-upgrade", said)
        self.check("/opt/ganeti_tx/bin/", guest)
        self.run_on(2, INSTALL)
        self.assertIn(f"All nodes run version {NEWER}", self.run_on(1, f"gnt-cluster upgrade --to {NEWER}"))
        self.check(f"/opt/ganeti_tx-{NEWER}/bin/", guest)
        self.run_on(1, "gnt-instance shutdown --timeout=0 web1.example.com && gnt-instance startup web1.example.com")
        guest = self.run_on(2, GUEST)
        self.assertIn(f"All nodes run version {__version__}", self.run_on(1, f"gnt-cluster upgrade --to {__version__}"))
        self.check("/opt/ganeti_tx/bin/", guest)

    def check(self, programs: str, guest: str) -> None:
        """What runs is of this installation, and so is what is typed; the guest has not been touched."""
        self.check_units(master=1)
        for node, daemons in ((1, ("noded", "master", "rapi", "confd", "mond")), (2, ("noded", "confd", "mond"))):
            for daemon in daemons:
                words = self.run_on(
                    node, f"tr '\\0' ' ' < /proc/$(systemctl show --property=MainPID --value ganeti-{daemon})/cmdline"
                )
                self.assertIn(programs, words, f"{daemon} on node{node}")
            self.assertEqual(
                self.run_on(node, "readlink /usr/local/sbin/gnt-cluster").strip(), f"{programs}gnt-cluster"
            )
        self.assertEqual(self.run_on(2, GUEST), guest)
        self.check_status(1, "running")
