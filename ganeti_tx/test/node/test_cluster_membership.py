"""Who may make node calls."""

import datetime
import errno

from OpenSSL.crypto import FILETYPE_PEM, X509, load_certificate
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.cluster_files import ClusterFiles
from ganeti_tx.node.cluster_membership import AdmittedCallers
from ganeti_tx.node.job_copies import JobCopies
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.cluster import WriteSsconfFiles
from ganeti_tx.runtime.certificates import Identity, create_authority, digest, issue_client
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.tls import peer_name
from ganeti_tx.test.fakes.files import MemoryFiles, error

NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
AUTHORITY = create_authority("cluster", NOW)
NODE2 = issue_client(AUTHORITY, "node2", NOW)


class Connection:
    """The end of a connection at which the other has shown a certificate, or none."""

    def __init__(self, identity: Identity | None) -> None:
        self._identity = identity
        self.asked = 0

    def getPeerCertificate(self) -> X509 | None:
        """As a TLS transport."""
        self.asked += 1
        return None if self._identity is None else load_certificate(FILETYPE_PEM, self._identity.certificate)


class AdmittedCallersTests(SynchronousTestCase):
    """A node with simple configuration."""

    def setUp(self) -> None:
        """Nobody is a candidate."""
        self.paths, self.files = Paths(), MemoryFiles()
        self.files.mkdir(self.paths.data_dir)
        self.callers = AdmittedCallers(self.files, self.paths)

    def admit(self, *identities: Identity) -> None:
        """These are the candidates."""
        lines = "".join(f"uuid={digest(each.certificate)}\n" for each in identities)
        path = self.paths.ssconf_file("master_candidates_certs")
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, lines.encode())))

    def test_follows_roles(self) -> None:
        """A candidate may call from the moment it is one, and no longer than it is; its name is its certificate's."""
        connection = Connection(NODE2)
        self.assertFalse(self.callers.admitted(connection))
        self.admit(NODE2)
        self.assertTrue(self.callers.admitted(connection))
        self.assertEqual(peer_name(connection), "node2")
        self.admit(issue_client(AUTHORITY, "node2", NOW))
        self.assertFalse(self.callers.admitted(connection), "another certificate of the same name")
        self.admit()
        self.assertFalse(self.callers.admitted(connection))

    def test_read_once(self) -> None:
        """A connection's certificate is taken apart for its first call only; another connection has its own."""
        self.admit(NODE2)
        connection, other = Connection(NODE2), Connection(issue_client(AUTHORITY, "node3", NOW))
        for _ in range(3):
            self.assertTrue(self.callers.admitted(connection))
            self.assertFalse(self.callers.admitted(other))
        self.assertEqual([(each.asked, peer_name(each)) for each in (connection, other)], [(1, "node2"), (1, "node3")])

    def test_broken_disk(self) -> None:
        """When the list cannot be read, who is on it still may call, and nobody else; a list that is gone admits nobody."""
        self.admit(NODE2)
        self.assertTrue(self.callers.admitted(Connection(NODE2)))
        for step in ("stat", "read"):
            self.files.fault = lambda operation, path, step=step: error(errno.EIO, path) if operation == step else None
            self.admit(issue_client(AUTHORITY, "node3", NOW))
            self.assertTrue(self.callers.admitted(Connection(NODE2)), step)
            self.assertFalse(self.callers.admitted(Connection(AUTHORITY)), step)
        self.assertEqual(len(self.flushLoggedErrors()), 0)
        self.files.fault = None
        self.assertFalse(self.callers.admitted(Connection(NODE2)))
        self.admit(NODE2)
        self.assertTrue(self.callers.admitted(Connection(NODE2)))
        self.files.remove(self.paths.ssconf_file("master_candidates_certs"))
        self.assertFalse(self.callers.admitted(Connection(NODE2)))

    def test_told(self) -> None:
        """A list that the disk does not take counts all the same, until there is another file."""
        node3 = issue_client(AUTHORITY, "node3", NOW)
        for known in (True, False):
            self.callers = AdmittedCallers(self.files, self.paths)
            self.admit(NODE2)
            self.assertEqual(not known or self.callers.admitted(Connection(NODE2)), True)
            self.send(node3, written=False)
            self.assertEqual([self.callers.admitted(Connection(each)) for each in (NODE2, node3)], [False, True])
            self.send(NODE2, written=True)  # as the file is still, so that it is not written anew
            self.assertEqual([self.callers.admitted(Connection(each)) for each in (NODE2, node3)], [True, False])
            self.admit(node3)
            self.assertEqual([self.callers.admitted(Connection(each)) for each in (NODE2, node3)], [False, True])

    def send(self, identity: Identity, *, written: bool) -> None:
        """The master sends simple configuration with this candidate; the disk may refuse it."""
        terms = Terms(self.files, self.paths)
        queue = JobCopies(self.files, self.paths, terms)
        part = ClusterFiles(self.files, self.paths, {}, "node1", terms, queue, self.callers.told)
        values = {"master_candidates_certs": f"uuid={digest(identity.certificate)}\n", "cluster_name": "c"}
        if not written:
            self.files.fault = lambda operation, path: error(errno.EROFS, path) if "write" in operation else None
        done = Deferred.fromCoroutine(part.write_ssconf(WriteSsconfFiles(values=values)))
        if written:
            self.successResultOf(done)
        else:
            self.failureResultOf(done, OSError)
        self.files.fault = None

    def test_nameless(self) -> None:
        """Who shows no certificate, or one without a name, may not call, listed or not."""
        self.admit(AUTHORITY)
        for identity in (None, AUTHORITY):
            self.assertFalse(self.callers.admitted(Connection(identity)))
