"""A hypervisor parameter with which no instance could start, or migrate, is refused where it is set."""

from pathlib import Path

from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM
from ganeti_tx.model.params.kinds import types_of
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put

ADD = "gnt-instance add --no-install --no-start -o noop -t diskless --ignore-ipolicy -n node2"
PLACES = Path("/usr/share/qemu")
#: What cannot be, and what is said of it: by the master, and by a node.
WRONG = {
    "vnc_bind_address=300.1.2.3": "vnc_bind_address: '300.1.2.3' is not an IP address, the name of an interface",
    "spice_bind=/run/spice": "spice_bind: '/run/spice' is not an IP address or the name of an interface",
    "migration_caps=teleport": "migration_caps: 'teleport' is not an ability of QEMU to migrate",
    "vnc_bind_address=eth9": "vnc_bind_address: eth9 is neither an IP address nor an interface of this node",
    "keymap=xx": f"keymap: 'xx' is not known to {DEFAULT_PROGRAM}; known are fr",
    "security_model=pool": "security_model: pool, but the cluster has no pool of user ids; 'gnt-cluster modify --uid-pool'",
}


#: Parameters of which neither master nor node can tell whether they are right: what a guest's kernel or a program makes of
#: them; of those of Xen's boot loader, as long as there is none.
UNTOLD = {
    Hypervisor.CHROOT: {"init_script"},
    Hypervisor.FAKE: set[str](),
    Hypervisor.KVM: {"cpu_type", "kernel_args", "kvm_extra", "machine_version", "root_path", "usb_devices"},
    Hypervisor.LXC: set[str](),
    Hypervisor.XEN_HVM: {"cpuid"},
    Hypervisor.XEN_PVM: {"bootloader_args", "bootloader_path", "cpuid", "kernel_args", "root_path"},
}
#: With what each can be set to begin with.
BASE = {
    Hypervisor.KVM: "kernel_path=/boot/kernel",
    Hypervisor.XEN_HVM: "vnc_password_file=",
    Hypervisor.XEN_PVM: "kernel_path=/boot/kernel",
}
#: What is right for nothing.
BAD_NUMBERS, BAD_TEXTS = ("-1", "99999999999999"), ("no such?", "/no/such")


class HypervisorValueTests(ClusterCase):
    """Nodes with a QEMU that has one keymap, without the interface eth9."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """As above."""
        cluster = super().new_cluster(seed)
        for node in cluster.members:
            put(node.disk, Path(DEFAULT_PROGRAM), b"")
            put(node.disk, PLACES / "keymaps" / "fr", b"")
            node.scripts.script([DEFAULT_PROGRAM, "-L", "help"], ProcessResult(stdout=bytes(PLACES) + b"\n"))
            node.scripts.script(["ip"], ProcessResult(status=1, stderr=b'Device "eth9" does not exist.\n'))
        return cluster

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-cluster modify --enabled-hypervisors=fake,kvm -H kvm:kernel_path=")

    def test_refused(self) -> None:
        """For the cluster, an OS, an instance, a new one, and one start of it; nothing is changed."""
        self.ok(f"{ADD} -H kvm web1")
        before = self.cluster.config.cluster.hvparams, self.cluster.config.instances
        for value, why in WRONG.items():
            for line in (
                f"gnt-cluster modify -H kvm:{value}",
                f"gnt-os modify -H kvm:{value} noop",
                f"gnt-instance modify -H {value} web1",
                f"{ADD} -H kvm:{value} web2",
                f"gnt-instance startup -H {value} web1",
            ):
                status, out, err = self.scene().run(line.split())
                self.assertIn(why, err, f"{line}: {status} {out}")
            found = self.cluster.config.cluster.hvparams, self.cluster.config.instances
            self.assertEqual(found, before, value)

    def test_each(self) -> None:
        """Whatever a hypervisor can be told, what cannot be is refused; where nobody can tell, that is known."""
        for node in self.cluster.members:
            for path in ("/boot/kernel", "/etc/xen/scripts/vif-bridge"):
                put(node.disk, Path(path), b"")
        for word, untold in UNTOLD.items():
            base = ["-H", f"{word}:{BASE[word]}"] if word in BASE else []
            status, _, err = self.scene().run(["gnt-cluster", "modify", f"--enabled-hypervisors={word}", *base])
            self.assertEqual((status, err), (0, ""), word)
            kinds = {name: kind for name, kind in types_of(HYPERVISORS[word].params).items() if kind is not bool}
            self.assertEqual({name for name, kind in kinds.items() if self.taken(word, name, kind)}, untold, word)

    def taken(self, word: Hypervisor, name: str, kind: object) -> bool:
        """Whether a parameter can be anything; it is as before afterwards."""
        before = self.cluster.config.cluster.hvparams[word].get(name, "default")
        bad = BAD_NUMBERS if kind is int else BAD_TEXTS
        lines = [["gnt-cluster", "modify", "-H", f"{word}:{name}={value}"] for value in bad]
        statuses = [self.scene().run(line)[0] for line in lines]
        self.ok(f"gnt-cluster modify -H {word}:{name}={before}")
        return not any(statuses)

    def test_not_enabled(self) -> None:
        """The master needs no node to see what can be nothing."""
        self.fails(
            "gnt-cluster modify -H xen-hvm:vnc_bind_address=eth0", "vnc_bind_address: 'eth0' is not an IP address"
        )

    def test_pool_comes(self) -> None:
        """A pool may come by the same change; it makes the parameter possible, for instances, too."""
        self.ok("gnt-cluster modify --uid-pool=61000-61009 -H kvm:security_model=pool")
        self.ok(f"{ADD} -H kvm:keymap=fr,migration_caps=xbzrle web1")
        self.ok("gnt-instance modify -H vnc_bind_address=127.0.0.1 web1")

    def test_pool_goes(self) -> None:
        """Who takes the pool away is told what needs it."""
        self.ok("gnt-cluster modify --uid-pool=61000-61009")
        for line in ("gnt-cluster modify -H kvm:{}", "gnt-os modify -H kvm:{} noop", f"{ADD} -H kvm:{{}} web1"):
            self.ok(line.format("security_model=pool"))
        self.assertNotIn("WARNING", self.ok("gnt-cluster modify --remove-uids=61005"))
        self.assertIn(
            "WARNING: without a pool of user ids nothing can be started that has security_model=pool: the cluster, OS noop,"
            " instance web1.example.com",
            self.ok("gnt-cluster modify --uid-pool="),
        )
