"""Files that are not the cluster's own, on their way to all nodes."""

from pathlib import Path

from ganeti_tx.model.listed_files import MAX_FILE, MAX_TOGETHER
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

LIST, SCRIPT, PASSWORD = "/etc/ganeti/distributed-files", "/usr/local/bin/vif", "/etc/ganeti/vnc-password"

ELSEWHERE = "/srv/vnc-password"
#: What is said of one that is not sent, and what to do.
UNSENT = (
    f"file {ELSEWHERE} is not sent to the other nodes: a parameter of a hypervisor names it, and such files are sent from"
    f" /etc/ganeti only, and none of its programs; list it in {LIST} and run 'gnt-cluster redist-conf', or keep it alike"
)


class ListedFilesTests(ClusterCase):
    """The master has a list with one file, and a file that a hypervisor's parameter names."""

    def setUp(self) -> None:
        super().setUp()
        self.have(LIST, f"# ours\n\n{SCRIPT}\n{LIST}\n")
        self.have(SCRIPT, "#!/bin/sh\n", 0o755)

    def have(self, path: str, text: str, mode: int = 0o644) -> None:
        """A file on the master."""
        put(self.cluster.master.disk, self.place(path), text.encode(), mode)

    def place(self, path: str) -> Path:
        """Where it is on a node."""
        return self.cluster.paths.root / path.lstrip("/")

    def on(self, number: int, path: str) -> tuple[str, int] | None:
        """The file on a node: its text and its mode."""
        disk, place = self.cluster.node(number).disk, self.place(path)
        if not disk.exists(place):
            return None
        return disk.read(place, 1 << 21).decode(), disk.stat(place).mode & 0o777

    def test_redistributed(self) -> None:
        """redist-conf brings the list, what is on it, and the files of hypervisors, each with its mode."""
        for node in self.cluster.members:
            put(node.disk, self.place("/usr/bin/kvm"), b"", 0o755)
            put(node.disk, self.place(PASSWORD), b"old", 0o600)
        self.have(PASSWORD, "new", 0o600)
        parameters = f"kvm:vnc_password_file={PASSWORD},kernel_path="
        self.ok(f"gnt-cluster modify --enabled-hypervisors=fake,kvm -H {parameters}")
        said = self.ok("gnt-cluster redist-conf")
        self.assertNotIn("WARNING", said)
        for number in (2, 3):
            self.assertEqual(self.on(number, SCRIPT), ("#!/bin/sh\n", 0o755))
            self.assertEqual(self.on(number, PASSWORD), ("new", 0o600))
            self.assertEqual(self.on(number, LIST), self.on(1, LIST))
        self.have(SCRIPT, "#!/bin/sh\n# another\n", 0o700)
        self.ok("gnt-cluster redist-conf")
        self.assertEqual(self.on(3, SCRIPT), ("#!/bin/sh\n# another\n", 0o700))

    def test_joined_and_promoted(self) -> None:
        """They also go to a node that joins, and to one that becomes a candidate."""
        self.ok("gnt-cluster modify -C 2")
        self.ok("gnt-node modify --master-candidate=no node3")
        self.ok("gnt-node add node4")
        self.assertEqual(self.on(4, SCRIPT), ("#!/bin/sh\n", 0o755))
        self.have(SCRIPT, "#!/bin/sh\n# another\n", 0o700)
        self.ok("gnt-cluster add-tags new")
        self.assertEqual(self.on(3, SCRIPT), ("#!/bin/sh\n", 0o755))
        self.ok("gnt-node modify --master-candidate=yes node3")
        self.assertEqual(self.on(3, SCRIPT), ("#!/bin/sh\n# another\n", 0o700))

    def test_faults(self) -> None:
        """What cannot be sent is told of, file by file; the others go."""
        wrong = ["relative", "/etc/../x", "/var/lib/ganeti/config.data", "/proc/version", "/no/such", "/usr/local"]
        self.have(LIST, "".join(f"{path}\n" for path in [*wrong, SCRIPT]))
        said = self.ok("gnt-cluster redist-conf")
        for path in wrong:
            self.assertIn(f"WARNING: file {path} is not sent: ", said)
        self.assertNotIn(f"file {SCRIPT}", said)
        self.assertEqual(self.on(2, SCRIPT), ("#!/bin/sh\n", 0o755))
        self.have(LIST, f"{SCRIPT}\n")
        self.assertNotIn("WARNING", self.ok("gnt-cluster redist-conf"))

    def test_elsewhere(self) -> None:
        """A password file that is not sent is told of when it is named, and by verify, until the administrator lists it."""
        for node in self.cluster.members:
            put(node.disk, self.place("/usr/bin/kvm"), b"", 0o755)
            for path in (PASSWORD, ELSEWHERE):
                put(node.disk, self.place(path), b"word", 0o600)
        told = f"WARNING: vnc_password_file: {UNSENT}"
        modify = "gnt-cluster modify --enabled-hypervisors=fake,kvm -H kvm:kernel_path=,vnc_password_file="
        self.assertIn(told, self.ok(f"{modify}{ELSEWHERE}"))
        self.assertNotIn("is not sent", self.ok(f"{modify}{ELSEWHERE}"))
        self.assertIn(f"WARNING: cluster : {UNSENT}", self.ok("gnt-cluster verify"))
        self.assertNotIn("is not sent", self.ok(f"{modify}{PASSWORD}") + self.ok("gnt-cluster verify"))
        self.assertIn(told, self.ok(f"gnt-os modify -H kvm:vnc_password_file={ELSEWHERE} noop"))
        self.ok("gnt-os modify -H kvm:vnc_password_file=default noop")
        add = "gnt-instance add --no-install --no-start -o noop -t diskless --ignore-ipolicy -n node2"
        self.assertIn(told, self.ok(f"{add} -H kvm:vnc_password_file={ELSEWHERE} web1"))
        self.assertIn(f"WARNING: cluster : {UNSENT}", self.ok("gnt-cluster verify"))
        self.assertNotIn("is not sent", self.ok("gnt-instance modify -H vnc_password_file=default web1"))
        self.assertIn(told, self.ok(f"gnt-instance modify -H vnc_password_file={ELSEWHERE} web1"))
        self.have(LIST, f"{ELSEWHERE}\n")
        self.ok("gnt-cluster redist-conf")
        self.assertNotIn("is not sent", self.ok("gnt-cluster verify"))
        self.assertNotIn("is not sent", self.ok(f"{add} -H kvm:vnc_password_file={ELSEWHERE} web2"))

    def test_sizes(self) -> None:
        """One file that is too large, and what is too much together, is left out and told of."""
        self.have("/srv/large", "x" * (MAX_FILE + 1))
        paths = [f"/srv/{number}" for number in range(MAX_TOGETHER // MAX_FILE + 1)]
        for path in paths:
            self.have(path, "x" * MAX_FILE)
        self.have(LIST, "".join(f"{path}\n" for path in ["/srv/large", *paths]))
        said = self.ok("gnt-cluster redist-conf")
        self.assertIn(f"file /srv/large is not sent: it has {MAX_FILE + 1} bytes, more than {MAX_FILE}", said)
        self.assertIn(f"file {paths[-1]} is not sent: all files together have more than {MAX_TOGETHER} bytes", said)
        self.assertEqual(said.count("is not sent"), 2)
        self.assertIsNotNone(self.on(2, paths[-2]))
