"""What a node takes in from its master, and what it refuses."""

import re
from pathlib import Path
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.errors import ConfigurationError, GanetiError, JobQueueError, ProgrammerError
from ganeti_tx.node.answers import methods_of
from ganeti_tx.node.cluster_files import ClusterFiles
from ganeti_tx.node.cluster_membership import LEAVE_DELAY, Membership
from ganeti_tx.node.job_copies import JobCopies
from ganeti_tx.node.local_daemons import LocalDaemons, MachineProcesses
from ganeti_tx.node.service import UPLOADS
from ganeti_tx.node.storage.abilities import ILeaving
from ganeti_tx.node.storage.diskless.driver import Diskless
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.cluster import (
    ListedFile,
    ReadListedFile,
    UploadFile,
    WriteListedFile,
    WriteRapiFiles,
    WriteSsconfFiles,
)
from ganeti_tx.rpc.calls.node import NodeDemoteFromMc, NodeLeaveCluster
from ganeti_tx.rpc.calls.queue import JobqueuePurge, JobqueueRename, JobqueueSetDrainFlag, JobqueueSweep, JobqueueUpdate
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.stores import SlowFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner

CONFIG = "/var/lib/ganeti/config.data"


@implementer(ILeaving)
@define
class KeepingStorage:
    """Of a storage that keeps something of its node, what a node asks of it as it leaves."""

    template: str
    left: bool = False

    async def leave(self) -> list[str]:
        """See `ILeaving`: but for one thing."""
        self.left = True
        return ["something of it is in use"]


class ClusterFilesTests(SynchronousTestCase):
    """ClusterFiles below a root that is not "/"."""

    def setUp(self) -> None:
        """An empty node."""
        self.paths = Paths(Path("/node"))
        self.files = SlowFiles()
        for directory in (self.paths.data_dir, self.paths.queue_dir, self.paths.queue_archive_dir):
            self.files.mkdir(directory)
        terms = Terms(self.files, self.paths)
        queue = JobCopies(self.files, self.paths, terms)
        self.part = ClusterFiles(self.files, self.paths, UPLOADS, "node1.example.com", terms, queue)
        self.methods = methods_of([self.part, queue])

    def do(self, call: Any) -> None:
        """One call that succeeds."""
        self.successResultOf(Deferred.fromCoroutine(self.methods[type(call)](call)))

    def refused(self, call: Any, kind: type[GanetiError]) -> str:
        """The words with which a call is refused."""
        return str(self.failureResultOf(Deferred.fromCoroutine(self.methods[type(call)](call)), kind).value)

    def read(self, path: Path) -> bytes:
        """A file's content."""
        return self.files.read(path, 10**6)

    # Uploads

    def test_upload(self) -> None:
        """A file of the list lands below the node's root with the list's mode."""
        self.do(UploadFile(path=CONFIG, data=b'{"serial_no": 1}', serial=1))
        self.assertEqual(self.read(self.paths.config_file), b'{"serial_no": 1}')
        self.assertEqual(self.files.stat(self.paths.config_file).mode, 0o640)

    def test_upload_of_anything(self) -> None:
        """No other path is written, however it is spelled."""
        for path in ("/etc/passwd", f"/../..{CONFIG}", f"{CONFIG}/", "var/lib/ganeti/config.data", ""):
            self.assertIn(
                "not a file that the cluster distributes",
                self.refused(UploadFile(path=path, data=b""), ProgrammerError),
            )

    def test_read_for_others(self) -> None:
        """A file that goes to all nodes is read with its mode; none of the cluster's own, and none too large."""
        script = self.paths.root / "srv/vif"
        self.files.mkdir(script.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(script, b"#!", 0o750)))
        read = self.successResultOf(
            Deferred.fromCoroutine(self.part.read_listed(ReadListedFile(path="/srv/vif", room=2)))
        )
        self.assertEqual(read, ListedFile(data=b"#!", mode=0o750))
        for path, room, reason in (
            (CONFIG, 99, "sends it by itself"),
            ("/var/lib/ganeti/rapi.pem.old", 99, "nothing below /var/lib/ganeti is sent"),
            ("/srv/../srv/vif", 99, "give the whole path"),
            ("//var/lib/ganeti/rapi.pem.old", 99, "give the whole path"),
            ("//proc/version", 99, "give the whole path"),
            ("/srv/vif", 1, "all files together"),
            ("/srv", 99, "it is a directory"),
            ("/srv/nosuch", 99, "No such file"),
        ):
            self.assertIn(reason, self.refused(ReadListedFile(path=path, room=room), ConfigurationError))

    def test_write_for_others(self) -> None:
        """Such a file is written with its mode, where none of the cluster's own is, by whatever name or link."""
        self.do(WriteListedFile(path="/srv/vif", data=b"#!", mode=0o750))
        self.assertEqual(self.files.stat(self.paths.root / "srv/vif").mode, 0o750)
        self.files.symlink(self.paths.root / "srv/data", str(self.paths.data_dir))
        for path in (
            CONFIG,
            f"/{CONFIG}",
            "//var/lib/ganeti/x",
            "/srv/data/x",
            "/srv/data",
            "//proc/x",
            "/srv/",
            "srv",
        ):
            text = self.refused(WriteListedFile(path=path, data=b"", mode=0o600), ProgrammerError)
            self.assertIn(f"{path!r} cannot be written here: ", text)

    def test_older_configuration(self) -> None:
        """An older configuration does not replace a newer one; a newer or equal one does, and so junk is healed."""
        self.do(UploadFile(path=CONFIG, data=b'{"serial_no": 5}', serial=5))
        text = self.refused(UploadFile(path=CONFIG, data=b'{"serial_no": 4}', serial=4), ConfigurationError)
        self.assertIn("newer than serial number 4", text)
        self.do(UploadFile(path=CONFIG, data=b"junk", serial=5))
        self.do(UploadFile(path=CONFIG, data=b'{"serial_no": 1}', serial=1))
        self.assertEqual(self.read(self.paths.config_file), b'{"serial_no": 1}')

    # Users of the Remote API

    def test_rapi_files(self) -> None:
        """They are the master's from then on, and no others; older ones are refused."""
        self.files.mkdir(self.paths.rapi_dir)
        Deferred.fromCoroutine(self.files.write_atomic(self.paths.rapi_tokens_file, b"ci 00 never"))
        self.do(WriteRapiFiles(files={"users": b"jack secret", "roles": b""}, serial=5))
        self.assertEqual(self.read(self.paths.rapi_users_file), b"jack secret")
        self.assertEqual(self.files.stat(self.paths.rapi_users_file).mode, 0o640)
        self.assertEqual(self.files.listdir(self.paths.rapi_dir), ["roles", "users"])
        text = self.refused(WriteRapiFiles(files={}, serial=4), ConfigurationError)
        self.assertIn("newer than serial number 4", text)
        self.do(WriteRapiFiles(files={}, serial=5))
        self.assertEqual(self.files.listdir(self.paths.rapi_dir), [])

    def test_rapi_files_of_no_such_name(self) -> None:
        """A name leads nowhere else, and nothing is longer than what is read."""
        for name in ("../config.data", "other", ""):
            text = self.refused(WriteRapiFiles(files={name: b""}, serial=1), ProgrammerError)
            self.assertIn("not a file of rapi/", text)
        large = WriteRapiFiles(files={"users": b" " * (1024 * 1024 + 1)}, serial=1)
        self.assertIn("larger than", self.refused(large, ProgrammerError))

    def test_late_configuration(self) -> None:
        """A configuration from before the node ceased to be a candidate does not come back."""
        self.do(UploadFile(path=CONFIG, data=b'{"serial_no": 5}', serial=5))
        self.do(WriteSsconfFiles(values={"master_candidates": "node2.example.com"}, serial=6))
        self.do(NodeDemoteFromMc())
        text = self.refused(UploadFile(path=CONFIG, data=b'{"serial_no": 5}', serial=5), ConfigurationError)
        self.assertIn("newer than serial number 5", text)
        self.assertFalse(self.files.exists(self.paths.config_file))

    def test_configuration_of_unknown_age(self) -> None:
        """A configuration that comes without its serial number is refused."""
        text = self.refused(UploadFile(path=CONFIG, data=b'{"serial_no": 9}'), ProgrammerError)
        self.assertIn("needs its serial number", text)
        self.assertFalse(self.files.exists(self.paths.config_file))

    def test_uploads_at_the_same_time(self) -> None:
        """Two uploads are compared one after the other: the older one is refused although the newer is being written."""
        self.files.slow = True
        newer = Deferred.fromCoroutine(self.part.upload(UploadFile(path=CONFIG, data=b'{"serial_no": 6}', serial=6)))
        older = Deferred.fromCoroutine(self.part.upload(UploadFile(path=CONFIG, data=b'{"serial_no": 5}', serial=5)))
        self.files.finish()
        self.successResultOf(newer)
        self.failureResultOf(older, ConfigurationError)

    def test_upload_fails(self) -> None:
        """A write that fails does not keep the next from being tried."""
        self.files.fault = lambda operation, path: OSError(28, "No space left on device")
        self.failureResultOf(
            Deferred.fromCoroutine(self.part.upload(UploadFile(path=CONFIG, data=b"", serial=1))), OSError
        )
        self.files.fault = None
        self.do(UploadFile(path=CONFIG, data=b"x", serial=1))

    # Simple configuration

    def test_ssconf(self) -> None:
        """Values get a final newline unless they are empty; what has not changed is not written."""
        self.do(WriteSsconfFiles(values={"cluster_name": "c.example.com", "offline_nodes": ""}))
        name = self.paths.ssconf_file("cluster_name")
        self.assertEqual((self.read(name), self.files.stat(name).mode), (b"c.example.com\n", 0o444))
        self.assertEqual(self.read(self.paths.ssconf_file("offline_nodes")), b"")
        before = self.files.stat(name)
        self.do(WriteSsconfFiles(values={"cluster_name": "c.example.com"}))
        self.assertEqual(self.files.stat(name), before)

    def test_ssconf_keys(self) -> None:
        """A key is a word; one wrong key and nothing is written."""
        for key in ("../config.data", "a/b", "", "cluster_name\n", "Ä"):
            self.refused(WriteSsconfFiles(values={"cluster_name": "c", key: "x"}), ConfigurationError)
        self.assertEqual(self.files.listdir(self.paths.data_dir), ["queue"])

    # The queue

    def test_queue(self) -> None:
        """Job files and the serial number are written with the queue's mode."""
        self.do(JobqueueUpdate(files=[("job-7", "{}"), ("serial", "7\n"), ("version", "1\n")]))
        self.assertEqual(self.files.listdir(self.paths.queue_dir), ["archive", "job-7", "serial", "version"])
        self.assertEqual(self.files.stat(self.paths.job_file(7)).mode, 0o640)

    def test_queue_names(self) -> None:
        """Nothing else is a file of the queue."""
        for name in ("job-7/x", "../job-7", "job-7\n", "job-\u0667", "job-", "lock", ""):
            self.refused(JobqueueUpdate(files=[("job-1", "{}"), (name, "x")]), JobQueueError)
        self.assertEqual(self.files.listdir(self.paths.queue_dir), ["archive"])

    def test_serial(self) -> None:
        """The serial number never goes back; what is no number is refused by what it holds."""
        self.do(JobqueueUpdate(files=[("serial", "7\n")]))
        self.do(JobqueueUpdate(files=[("serial", "6\n"), ("job-6", "{}")]))
        self.assertEqual(self.read(self.paths.queue_serial_file), b"7\n")
        self.assertTrue(self.files.exists(self.paths.job_file(6)))
        for junk in ("", "x", "-1", "9" * 5000):
            self.assertIn("not a serial number", self.refused(JobqueueUpdate(files=[("serial", junk)]), JobQueueError))

    def test_damaged_serial(self) -> None:
        """A damaged serial file is replaced."""
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(self.paths.queue_serial_file, b"\xffjunk")))
        self.do(JobqueueUpdate(files=[("serial", "3\n")]))
        self.assertEqual(self.read(self.paths.queue_serial_file), b"3\n")

    def test_archive(self) -> None:
        """Copies of archived jobs move; one that is not here is no error; only jobs move, and only to the archive."""
        self.do(JobqueueUpdate(files=[("job-7", "{}"), ("serial", "7\n")]))
        self.do(JobqueueRename(renames=[("job-7", "archive/0/job-7"), ("job-8", "archive/0/job-8")]))
        self.assertTrue(self.files.exists(self.paths.archived_job_file(7)))
        self.assertFalse(self.files.exists(self.paths.job_file(7)))
        targets = ("job-8", "archive/../../x", "archive/0/job-7\n")
        for wrong in (("serial", "archive/0/job-7"), *(("job-7", target) for target in targets)):
            self.refused(JobqueueRename(renames=[wrong]), JobQueueError)

    def test_sweep(self) -> None:
        """Of the jobs up to a number those that are not live are archived; newer ones and other files stay."""
        names = ["job-7", "job-8", "job-10009", "job-10010", "serial", "version"]
        self.do(JobqueueUpdate(files=[(name, "12000") for name in names]))
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(self.paths.queue_dir / "job-x", b"mine")))
        self.do(JobqueueSweep(live=[8], up_to=10_009))
        left = ["archive", "job-10010", "job-8", "job-x", "serial", "version"]
        self.assertEqual(self.files.listdir(self.paths.queue_dir), left)
        for job_id in (7, 10_009):
            self.assertEqual(self.read(self.paths.archived_job_file(job_id)), b"12000")

    def test_purge(self) -> None:
        """After a purge nothing of the queue is left, archived jobs and damaged files included; what is not its stays."""
        self.do(JobqueueUpdate(files=[("job-7", "{}"), ("job-8", "{}"), ("serial", "8\n"), ("version", "1\n")]))
        self.do(JobqueueRename(renames=[("job-7", "archive/0/job-7")]))
        self.do(JobqueueSetDrainFlag(drained=True))
        for name in ("lost+found/job-3", "notes", "lock"):
            self.files.mkdir((self.paths.queue_dir / name).parent)
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(self.paths.queue_dir / name, b"")))
        for _ in range(2):
            self.do(JobqueuePurge())
            self.assertEqual(self.files.listdir(self.paths.queue_dir), ["archive", "lock", "notes"])
            self.assertEqual(self.files.listdir(self.paths.queue_archive_dir), [])

    def test_drain_flag(self) -> None:
        """The flag comes and goes; twice is no error."""
        for drained in (True, True, False, False):
            self.do(JobqueueSetDrainFlag(drained=drained))
            self.assertEqual(self.files.exists(self.paths.queue_drain_file), drained)

    # Leaving

    def test_leave_users(self) -> None:
        """Passwords, tokens and the way to the directory go with the cluster that they are for."""
        self.files.mkdir(self.paths.rapi_dir)
        for path in (self.paths.rapi_users_file, self.paths.rapi_tokens_file, self.paths.rapi_ldap_file):
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, b"x")))
        self.successResultOf(Deferred.fromCoroutine(self.part.forget_cluster()))
        self.assertEqual(self.files.listdir(self.paths.rapi_dir), [])

    def test_leave(self) -> None:
        """A node that leaves has no key and no configuration left; its daemon ends once the answer is out, the others before."""
        keys = (self.paths.server_pem, self.paths.client_pem, self.paths.authority_pem, self.paths.hmac_key)
        for path in (*keys, self.paths.config_file, self.paths.cluster_domain_secret):
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, b"x")))
        self.do(WriteSsconfFiles(values={"cluster_name": "c"}))
        clock, ended = Clock(), []
        running = {self.paths.pid_file("ganeti-mond"): 7, self.paths.pid_file("ganeti-rapi"): 8}
        of_process = {process: path for path, process in running.items()}

        def end(process: int, number: int) -> None:
            del running[of_process[process]]

        processes = MachineProcesses(running.get, send_signal=end)
        daemons = LocalDaemons(self.files, self.paths, FakeProcessRunner(clock), clock, processes)
        kept = KeepingStorage("kept")
        storages: list[Any] = [Diskless(), kept]
        leaving = Membership(self.files, self.paths, self.part, daemons, lambda: ended.append(True), storages)
        self.successResultOf(Deferred.fromCoroutine(leaving.leave(NodeLeaveCluster())))
        left = [
            name for name in self.files.listdir(self.paths.data_dir) if re.search(r"pem|key|ssconf|config|secret", name)
        ]
        self.assertEqual((left, running, ended), ([], {}, []))
        self.assertTrue(kept.left)
        late = (self.paths.queue_dir / "job-7", self.paths.master_term_file)
        for path in late:  # a call that came while the others ended
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, b"x")))
        clock.advance(LEAVE_DELAY)
        self.assertEqual((ended, [path for path in late if self.files.exists(path)]), ([True], []))
