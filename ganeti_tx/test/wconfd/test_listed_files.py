"""Files that only root may read, on their way to all nodes."""

from pathlib import Path

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.listed_files import MAX_TOGETHER
from ganeti_tx.model.node_files import DISTRIBUTED_FILES
from ganeti_tx.rpc.calls.cluster import ListedFile, ReadListedFile, WriteListedFile
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.stores import CONFIG
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import NODE
from ganeti_tx.wconfd.listed_files import ListedFiles, read_listed_files, with_denied

OPEN, PASSWORD, SCRIPT = "/etc/motd", "/etc/ganeti/vnc/password", "/srv/vif"
KVM = {Hypervisor.KVM: {"vnc_password_file": PASSWORD, "spice_password_file": "/etc/ganeti/vnc/nosuch"}}


class DeniedTests(SynchronousTestCase):
    """The daemon of the configuration is not root; one file is in a directory that it may not enter, one only root may read."""

    def setUp(self) -> None:
        self.files, self.paths, self.rpc = MemoryFiles(self.refused), Paths(), FakeNodeRpc()
        for path in (OPEN, SCRIPT, PASSWORD):
            self.put(Path(path), path.encode())
        self.put(self.paths.of(DISTRIBUTED_FILES), f"{OPEN}\n{SCRIPT}\n".encode())

    def put(self, path: Path, data: bytes) -> None:
        """A file."""
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, data)))

    def refused(self, operation: str, path: Path) -> OSError | None:
        """As the kernel does."""
        inside = str(path) == PASSWORD and operation in ("stat", "read")
        own = str(path) == SCRIPT and operation == "read"
        return PermissionError(13, "Permission denied") if inside or own else None

    def found(self) -> ListedFiles:
        """All that is to be sent, in the end."""
        cluster = replace(CONFIG.cluster, enabled_hypervisors=(Hypervisor.KVM,), hvparams=KVM)
        first = read_listed_files(self.files, self.paths, replace(CONFIG, cluster=cluster, instances={}))
        self.assertEqual([call.path for call in first.calls], [OPEN])
        return self.successResultOf(Deferred.fromCoroutine(with_denied(first, self.rpc, NODE)))

    def test_root_reads_them(self) -> None:
        """The node daemon of this node, which is root's, is asked for each, and told how much there is room for."""
        self.rpc.answer(ReadListedFile, ListedFile(data=b"secret", mode=0o600))
        found = self.found()
        self.assertEqual(found.faults, ())
        self.assertEqual(
            found.calls,
            (
                WriteListedFile(path=OPEN, data=OPEN.encode(), mode=0o640),
                WriteListedFile(path=SCRIPT, data=b"secret", mode=0o600),
                WriteListedFile(path=PASSWORD, data=b"secret", mode=0o600),
            ),
        )
        room = MAX_TOGETHER - len(OPEN)
        asked = [(node, call.path, call.room) for node, call in self.rpc.sent if isinstance(call, ReadListedFile)]
        self.assertEqual(asked, [(NODE.name, SCRIPT, room), (NODE.name, PASSWORD, room - len(b"secret"))])

    def test_faults(self) -> None:
        """Each file that cannot be had is told of, with the reason, and the others go."""
        self.rpc.fail(ReadListedFile, ConfigurationError("it is a directory"))
        self.assertEqual(
            self.found().faults,
            tuple(f"file {path} is not sent: it is a directory" for path in (SCRIPT, PASSWORD)),
        )
        self.rpc.fail(ReadListedFile, "connection refused", NodeUnreachableError)
        found = self.found()
        self.assertEqual([call.path for call in found.calls], [OPEN])
        self.assertIn(f"file {PASSWORD} is not sent: only root may read it, and ", found.faults[1])

    def test_of_parameters(self) -> None:
        """A file elsewhere that a parameter of the cluster or an instance names is not sent, and that is told; listed, it is."""
        elsewhere = "/etc/shadow"
        self.put(Path(elsewhere), b"root's")
        cluster = replace(CONFIG.cluster, enabled_hypervisors=(Hypervisor.KVM,), hvparams={})
        by_cluster = replace(cluster, hvparams={Hypervisor.KVM: {"vnc_password_file": elsewhere}})
        instance = replace(
            next(iter(CONFIG.instances.values())),
            hypervisor=Hypervisor.KVM,
            hvparams={"spice_password_file": elsewhere, "vnc_password_file": f"/{OPEN}"},
        )
        for config in (
            replace(CONFIG, cluster=by_cluster, instances={}),
            replace(CONFIG, cluster=cluster, instances={instance.uuid: instance}),
        ):
            found = read_listed_files(self.files, self.paths, config)
            self.assertEqual([call.path for call in found.calls], [OPEN])
            self.assertEqual(found.denied, (SCRIPT,))
            (fault,) = (each for each in found.faults if elsewhere in each)
            self.assertIn("list it in /etc/ganeti/distributed-files", fault)
            self.put(self.paths.of(DISTRIBUTED_FILES), f"{elsewhere}\n".encode())
            found = read_listed_files(self.files, self.paths, config)
            self.assertEqual([call.path for call in found.calls], [elsewhere])
            self.put(self.paths.of(DISTRIBUTED_FILES), f"{OPEN}\n{SCRIPT}\n".encode())
