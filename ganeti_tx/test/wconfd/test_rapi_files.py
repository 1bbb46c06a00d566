"""The users of the Remote API go to every node before the configuration by which a vote tells who has them."""

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.logger import capturedLogs
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rpc.calls.cluster import WriteRapiFiles
from ganeti_tx.test.wconfd.protocol.loopback import Cluster
from ganeti_tx.test.wconfd.test_distribute import FOUR
from ganeti_tx.wconfd.protocol.client import NOBODY
from ganeti_tx.wconfd.protocol.own_calls import SPREAD_RAPI_FILES

CANDIDATE, PLAIN = "node2.example.com", "node3"


class RapiFilesTests(SynchronousTestCase):
    """Four nodes: the master, a candidate, a plain one, one that is offline."""

    def setUp(self) -> None:
        self.cluster = Cluster(FOUR)
        self.rpc = self.cluster.rpc
        self.wconfd = self.cluster.start()
        self.cluster.settle()
        self.rpc.names()

    def write(self, path: Path, data: bytes) -> None:
        """As an administrator does with an editor."""
        self.cluster.files.mkdir(self.cluster.paths.rapi_dir)
        Deferred.fromCoroutine(self.cluster.files.write_atomic(path, data))

    def users(self, data: bytes) -> None:
        """Write the users file."""
        self.write(self.cluster.paths.rapi_users_file, data)

    def spread(self) -> "Deferred[list[tuple[str, str]]]":
        """As the command asks for it, over the protocol."""
        client = self.cluster.client()
        return self.cluster.begin(client._link.ask(SPREAD_RAPI_FILES, NOBODY, 5.0))

    def serial(self) -> int:
        """Of the configuration on the master's disk."""
        return self.wconfd.store.snapshot.serial_no

    def test_never_any(self) -> None:
        """Where there are no users nothing is sent or counted."""
        before = self.serial()
        self.cluster.advance(60)
        self.assertEqual((self.rpc.names(), self.serial()), ([], before))

    def test_spread(self) -> None:
        """All nodes get what changed, candidates before the configuration that counts it."""
        before = self.serial()
        self.users(b"jack secret")
        self.assertEqual(self.successResultOf(self.spread()), [])
        self.assertEqual(self.serial(), before + 1)
        files = [call for _name, call in self.rpc.calls if isinstance(call, WriteRapiFiles)]
        self.assertEqual([(each.files, each.serial) for each in files], [({"users": b"jack secret"}, before + 1)] * 2)
        sent = self.rpc.names()
        self.assertEqual([call for name, call in sent if name == CANDIDATE], ["write_rapi_files", "upload_file"])
        self.assertIn((PLAIN, "write_rapi_files"), sent)
        self.assertEqual((self.successResultOf(self.spread()), self.rpc.names()), ([], []))

    def test_link(self) -> None:
        """What a link of the Remote API's user leads to is sent to nobody; what was there before stays on the others."""
        self.users(b"jack secret")
        self.successResultOf(self.spread())
        self.rpc.calls.clear()
        self.cluster.files.symlink(self.cluster.paths.rapi_ldap_file, str(self.cluster.paths.authority_key))
        failure = self.failureResultOf(self.spread())
        self.assertIn("ldap", str(failure.value))
        self.cluster.advance(60)
        self.assertEqual([call for _name, call in self.rpc.calls if isinstance(call, WriteRapiFiles)], [])

    def test_candidate_away(self) -> None:
        """Who asked is told of a candidate that cannot be reached; it gets the files first when it can."""
        self.rpc.down = {CANDIDATE}
        self.users(b"jack secret")
        [(name, why)] = self.successResultOf(self.spread())
        self.assertEqual((name, why), (CANDIDATE, f"node {CANDIDATE} cannot be reached"))
        sent = [call for name, call in self.rpc.names() if name == CANDIDATE]
        self.assertEqual(sent, ["write_rapi_files"])  # and no configuration
        self.rpc.down = set()
        self.cluster.advance(6)
        sent = [call for name, call in self.rpc.names() if name == CANDIDATE]
        self.assertEqual(sent[:2], ["write_rapi_files", "upload_file"])
        self.assertEqual(self.successResultOf(self.spread()), [])

    def test_candidate_hangs(self) -> None:
        """One that takes connections and says nothing holds nobody up for more than five seconds."""
        self.rpc.held = []
        self.users(b"jack secret")
        spread = self.spread()
        self.cluster.advance(4)
        self.assertNoResult(spread)
        self.cluster.advance(2)
        self.assertEqual(self.successResultOf(spread), [(CANDIDATE, "no answer within 5 s")])

    def test_by_hand(self) -> None:
        """What is changed with an editor is seen and sent without a command."""
        self.users(b"jack secret")
        self.cluster.advance(6)
        self.assertIn((CANDIDATE, "write_rapi_files"), self.rpc.names())
        self.cluster.files.remove(self.cluster.paths.rapi_users_file)
        self.write(self.cluster.paths.rapi_roles_file, b"web read")
        self.cluster.advance(6)
        files = [call.files for _name, call in self.rpc.calls if isinstance(call, WriteRapiFiles)]
        self.assertEqual(files, [{"roles": b"web read"}] * 2)

    def test_directory_replaced(self) -> None:
        """Another directory in the place of the old one is no less."""
        self.users(b"jack secret")
        self.cluster.advance(6)
        self.rpc.names()
        beside = self.cluster.paths.data_dir / "rapi-new"
        self.cluster.files.mkdir(beside)
        self.write(beside / "users", b"ann secret")
        self.cluster.files.remove(self.cluster.paths.rapi_users_file)
        self.cluster.files.rename(beside / "users", self.cluster.paths.rapi_users_file)
        self.cluster.advance(6)
        files = [call.files for _name, call in self.rpc.calls if isinstance(call, WriteRapiFiles)]
        self.assertEqual(files, [{"users": b"ann secret"}] * 2)

    def test_restart(self) -> None:
        """What changed while nobody looked is counted at the start, and only then."""
        self.users(b"jack secret")
        self.cluster.advance(6)
        before = self.serial()
        for changed, more in ((False, 0), (True, 1), (False, 1)):
            self.cluster.kill()
            if changed:
                self.users(b"")
            self.wconfd = self.cluster.start()
            self.cluster.settle()
            self.assertEqual(self.serial(), before + more)
            self.assertIn((CANDIDATE, "write_rapi_files"), self.rpc.names())

    def test_too_large(self) -> None:
        """What cannot be taken in is an error to who asks, and leaves what was."""
        self.users(b"jack secret")
        self.cluster.advance(6)
        self.rpc.names()
        self.users(b"#" * (1024 * 1024 + 1))
        self.assertIn("cannot be brought to other nodes", str(self.failureResultOf(self.spread()).value))
        self.assertEqual(self.rpc.names(), [])
        with capturedLogs() as logged:
            self.cluster.advance(10)
        complaints = [event["complaint"] for event in logged if "complaint" in event]
        self.assertEqual(len(complaints), 1, complaints)
