"""Storage that is there already, and that a provider's parameters name: no two disks are on it, however they come to be."""

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

ENABLE = "gnt-cluster modify --enabled-disk-templates ext,file --ipolicy-disk-templates ext,file"
ADD = "gnt-instance add -t ext --no-start -o noop"
BOARD = "--disk {}:size=1g,provider=shelf,side=left,board={}"
#: The same, by another way there.
OTHER_WAY = "--disk {}:size=1g,provider=shelf,side=right,board={}"
TAKEN = r"storage shelf: board=3 is that of disk/0 of instance web1.example.com; each disk needs its own"


class SameStorageTests(ClusterCase):
    """A provider whose boards are there already: it makes none."""

    def setUp(self) -> None:
        super().setUp()
        self.tell(b"board\n")
        self.ok(ENABLE)

    def tell(self, identity: bytes) -> None:
        """What nodes have as the provider's list of parameters that name its storage."""
        for number in (1, 2, 3):
            node = self.cluster.node(number)
            path = node.add_provider(parameters=b"board number of it\nside from which it is reached\n")
            put(node.disk, path / "identity.list", identity)

    def test_made(self) -> None:
        """No other instance gets it; what names none is made, as often as wanted."""
        self.ok(f"{ADD} {BOARD.format(0, 3)} -n node2 web1")
        self.fails(f"{ADD} {OTHER_WAY.format(0, 3)} -n node3 web2", TAKEN)
        twice = f"{BOARD.format(0, 4)} {OTHER_WAY.format(1, 4)}"
        self.fails(f"{ADD} {twice} -n node3 web2", "storage shelf: board=4 is named by two disks; each needs its own")
        self.ok(f"{ADD} --disk 0:size=1g,provider=shelf --disk 1:size=1g,provider=shelf -n node3 web2")
        self.ok("gnt-instance remove --force web1")
        self.ok(f"{ADD} {BOARD.format(0, 3)} -n node2 web3")

    def test_at_once(self) -> None:
        """Of two that are made at the same time one is refused."""
        for number in (2, 3):
            self.ok(f"{ADD} --submit {BOARD.format(0, 3)} -n node{number} web{number}")
        self.cluster.pass_time(60)
        self.assertEqual(len(self.cluster.config.instances), 1)
        said = self.ok("gnt-job list --no-headers -o id,status,opresult")
        self.assertRegex(said, "error .*storage shelf: board=3 is (reserved by job|that of disk/0 of instance web)")

    def test_forthcoming(self) -> None:
        """It is an instance's that is only reserved, which then gets it."""
        reserved = f"{ADD} {BOARD.format(0, 3)} -n node2"
        self.ok(f"{reserved} --forthcoming web1")
        self.fails(f"{ADD} {BOARD.format(0, 3)} -n node3 web2", TAKEN)
        self.ok(f"{reserved} --commit web1")

    def test_modified(self) -> None:
        """Neither by a new disk nor by other parameters, nor by another template, does an instance get another one's."""
        self.ok(f"{ADD} {BOARD.format(0, 3)} -n node2 web1")
        self.ok(f"{ADD} {BOARD.format(0, 4)} -n node3 web2")
        self.ok("gnt-instance add -t file --no-start --disk 0:size=1g --disk 1:size=1g -o noop -n node3 web4")
        self.fails(f"gnt-instance modify {OTHER_WAY.format('add', 3)} web2", TAKEN)
        self.fails("gnt-instance modify --disk 0:board=3 web2", TAKEN)
        convert = "gnt-instance modify -t ext --ext-params provider=shelf,board={} web4"
        self.fails(convert.format(5), "storage shelf: board=5 is named by two disks")
        self.ok("gnt-instance modify --disk 1:remove web4")
        self.fails(convert.format(3), TAKEN)
        self.ok("gnt-instance modify --disk 0:side=right web2")
        self.ok("gnt-instance modify --disk 0:board=6 web2")
        self.ok(convert.format(4))

    def test_attached(self) -> None:
        """A disk that nobody has keeps it, and is not attached if another one has come to it in some way."""
        self.tell(b"")
        self.ok(f"{ADD} {BOARD.format(0, 3)} -n node2 web1")
        self.ok(f"{ADD} {BOARD.format(0, 4)} {BOARD.format(1, 3)} -n node3 web2")
        disk = next(each for each in self.cluster.config.instances.values() if each.name.startswith("web2")).disks[1]
        self.tell(b"board\n")
        self.ok("gnt-instance modify --disk 1:detach web2")
        self.fails(f"gnt-instance modify --disk 1:attach,uuid={disk} web2", TAKEN)
        self.ok("gnt-instance remove --force web1")
        self.fails(f"{ADD} {BOARD.format(0, 3)} -n node2 web1", f"is that of disk {disk}, which no instance has")
        self.ok(f"gnt-instance modify --disk 1:attach,uuid={disk} web2")

    def test_imported(self) -> None:
        """What was exported comes back under another name on a disk of its own only."""
        self.ok(f"{ADD} {BOARD.format(0, 3)} -n node2 web1")
        self.ok("gnt-backup export -n node1 web1")
        imported = (
            "gnt-backup import -t ext --src-node node1 --src-dir /var/lib/ganeti/export/web1.example.com -n node3"
        )
        self.fails(f"{imported} --net 0:mac=generate {BOARD.format(0, 3)} web2", TAKEN)
        self.ok(f"{imported} --net 0:mac=generate {BOARD.format(0, 4)} web2")

    def test_since_before(self) -> None:
        """Verification tells of disks that were on the same before the provider said which parameters count."""
        self.tell(b"")
        self.ok(f"{ADD} {BOARD.format(0, 3)} -n node2 web1")
        self.ok(f"{ADD} {OTHER_WAY.format(0, 3)} {BOARD.format(1, 4)} -n node3 web2")
        self.ok("gnt-cluster verify")
        self.tell(b"board\n")
        status, out, _ = self.scene().run(["gnt-cluster", "verify", "--error-codes"])
        self.assertEqual((status, out.count("same storage")), (0, 2))
        for one, other in (("web1", "web2"), ("web2", "web1")):
            self.assertIn(
                f"WARNING:EINSTANCEFAULTYDISK:instance:{one}.example.com:disk/0 is on the same storage as disk/0 of instance"
                f" {other}.example.com (shelf: board=3)",
                out,
            )
        self.assertIn(
            "'gnt-instance modify --disk 0:board=... web2.example.com' gives the disk storage of its own", out
        )
        self.ok("gnt-instance modify --disk 0:mode=ro web1")
        self.assertEqual(self.ok("gnt-cluster verify").count("same storage"), 2)
        self.ok("gnt-instance modify --disk 0:mode=ro web2")
        self.assertNotIn("same storage", self.ok("gnt-cluster verify"))
        self.ok("gnt-instance modify --disk 0:mode=rw web2")
        self.ok("gnt-instance modify --disk 0:board=5 web2")
        self.assertNotIn("same storage", self.ok("gnt-cluster verify"))

    def test_wrong(self) -> None:
        """A provider that lists a parameter which it has not cannot be used."""
        self.tell(b"board\ncorner\n")
        self.fails(
            f"{ADD} {BOARD.format(0, 3)} -n node2 web1", "identity.list names 'corner', which is no parameter in"
        )
