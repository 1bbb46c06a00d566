"""An instance that goes from one cluster to another, step by step."""

from typing import Any

from msgspec import msgpack

from ganeti_tx.model.remote_moves import REMOTE_IMPORT
from ganeti_tx.rpc.calls.backup import ScriptExportStart, ScriptImportStart
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.instance import InstanceRunRename, InstanceStart
from ganeti_tx.rpc.calls.transfer import ImpexpRelease
from ganeti_tx.rpc.calls.transfer_keys import X509CertCreate
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.commands import DrivingClient
from ganeti_tx.test.inprocess.network import Fault, Says
from ganeti_tx.test.inprocess.remote_move_case import ADD, DAY, NAME, NEW, SECRET, RemoteMoveCase


class RemoteMoveTests(RemoteMoveCase):
    """What comes of it."""

    def moved(self, **more: Any) -> list[str]:
        """How both jobs end."""
        given = self.prepared()
        receiving = self.create(given, **more)
        sending = self.export(given, self.listening(receiving))
        return [self.ended(self.cluster, sending), self.ended(self.other, receiving)]

    def test_moved(self) -> None:
        """It is there with all that was on its disks, and nowhere else; no key is left."""
        self.made()
        self.assertEqual(self.moved(instance_name=NEW, start=True), ["success", "success"])
        self.assert_nothing_left(self.cluster)
        self.assertEqual(self.other.running(), {"node3.example.com": [NEW]})
        self.assertEqual(self.contents(self.other, 3), ["what was on disk 0", "what was on disk 1"])
        [call] = [each.call for each in self.other.network.sent if isinstance(each.call, InstanceRunRename)]
        self.assertEqual((call.old_name, call.instance.name), (NAME, NEW))
        for cluster in (self.cluster, self.other):
            self.assertEqual((self.keys(cluster), disagreements(cluster)), ([], []))

    def test_format(self) -> None:
        """A new disk may be an image, as its former one."""
        self.made()
        disks = [{"size": 128, "format": "qcow2"}, {"size": 64}]
        self.assertEqual(self.moved(disks=disks), ["success", "success"])
        [instance] = self.other.config.instances.values()
        self.assertEqual([self.other.config.disks[uuid].params for uuid in instance.disks], [{"format": "qcow2"}, None])

    def test_stopped(self) -> None:
        """One that does not run, and keeps its name, is down afterwards with its disks down."""
        self.made(ADD.replace("web1", "--no-start web1"))
        self.assertEqual(self.moved(compress="gzip"), ["success", "success"])
        self.assertEqual(self.other.running(), {})
        self.assertFalse(any(disk.assembled for disk in self.other.node(3).files_storage.disks.values()))
        self.assertFalse(any(isinstance(each.call, InstanceRunRename) for each in self.other.network.sent))
        self.assertEqual(disagreements(self.other), [])

    def test_kept(self) -> None:
        """Without removal the instance runs again, once it is copied."""
        self.made()
        given = self.prepared()
        receiving = self.create(given)
        sending = self.export(given, self.listening(receiving), remove_instance=False, long_sleep=True)
        self.assertEqual([self.ended(self.cluster, sending), self.ended(self.other, receiving)], ["success"] * 2)
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.assertEqual((self.keys(self.cluster), disagreements(self.cluster)), ([], []))

    def test_diskless(self) -> None:
        """There is nothing to send, and the other side is told nevertheless."""
        self.ok("gnt-instance add -t diskless -o noop --no-install -n node2 web1")
        self.assertEqual(self.moved(disk_template="diskless", disks=[]), ["success", "success"])
        self.assert_nothing_left(self.cluster)

    def test_start_fails(self) -> None:
        """The data are there only once, so the new instance stays when it does not start."""
        self.made()
        self.other.network.fault = lambda node, call: Says("no") if isinstance(call, InstanceStart) else None
        sent, received = self.moved(start=True)
        self.other.network.fault = None
        self.assertEqual(sent, "success")
        self.assertIn("no", received)
        self.assert_nothing_left(self.cluster)
        self.assertEqual(self.contents(self.other, 3), ["what was on disk 0", "what was on disk 1"])
        self.assertEqual([each.name for each in self.other.config.instances.values()], [NAME])
        self.assertEqual((self.keys(self.other), disagreements(self.other)), ([], []))
        self.ok_there("gnt-instance startup web1")

    def ok_there(self, line: str) -> None:
        """A command in the other cluster."""
        before, self.cluster = self.cluster, self.other
        try:
            self.ok(line)
        finally:
            self.cluster = before

    def test_script_ends(self) -> None:
        """The farewell is held until the configuration says that the new instance stays."""
        self.made()
        given = self.prepared()
        receiving = self.create(given)
        told = self.listening(receiving)
        self.other.network.fault = lambda node, call: Says("not yet") if isinstance(call, ImpexpRelease) else None
        sending = self.export(given, told)
        self.assertIn("not yet", self.ended(self.other, receiving))
        self.other.network.fault = None
        self.assertIn("could not copy disk/", self.ended(self.cluster, sending))
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.assertEqual(self.contents(self.other, 3), ["what was on disk 0", "what was on disk 1"])
        self.assertEqual((disagreements(self.cluster), disagreements(self.other)), ([], []))


class RefusedMoveTests(RemoteMoveCase):
    """Nothing is half done."""

    def test_create_refused(self) -> None:
        """The destination takes only what a cluster with its secret shows, and as long as that is good."""
        self.made()
        given = self.prepared()
        header, certificate = given["x509_ca"].split("\n", 1)
        for more, reason in (
            ({"source_handshake": None}, "source_handshake: a list of"),
            ({"source_handshake": [0, "0" * 40, "abc"]}, "source_handshake: .*do not share the secret"),
            ({"source_x509_ca": None}, "source_x509_ca: the certificate of the other cluster is needed"),
            ({"source_x509_ca": certificate}, "source_x509_ca: signature missing"),
            ({"source_x509_ca": f"X-Ganeti-Signature: abc/{'0' * 40}\n{certificate}"}, "signature invalid"),
            ({"source_x509_ca": f"{header}\n\nno certificate"}, "there is no certificate in it"),
            ({"source_instance_name": None}, "source_instance_name: the name of the instance"),
            ({"os_type": None}, "no guest OS is given"),
            ({"no_install": True}, "go with mode create only"),
            ({"disks": []}, "0 disks are given; allowed are 1 to 16"),
            ({"compress": "bogus"}, "not a compression tool: 'bogus'"),
        ):
            self.assertRegex(self.ended(self.other, self.create(given, **more), 5), reason)
        self.share(self.other, "of others")
        self.assertRegex(self.ended(self.other, self.create(given), 5), "do not share the secret")
        self.other.master.disk.remove(self.other.paths.cluster_domain_secret)
        self.assertRegex(
            self.ended(self.other, self.create(given), 5), "domain secret .* cannot be read: .*renew-crypto"
        )
        self.share(self.other, SECRET.value)
        self.cluster.pass_time(DAY + 600)
        self.assertRegex(self.ended(self.other, self.create(given), 5), "the certificate expired at .*prepare the move")
        self.is_untouched(running=True)

    def test_export_refused(self) -> None:
        """The source sends only to where a cluster with its secret listens; before that nothing is stopped."""
        self.made()
        given = self.prepared()
        told = self.listening(self.create(given))
        forged = [told["disks"][0], [*told["disks"][1][:3], "0" * 40, "abc"]]
        _, certificate = told["x509_ca"].split("\n", 1)
        for more, reason in (
            ({"x509_key_name": None}, "x509_key_name: what the preparation gave"),
            ({"x509_key_name": ["x509-1", "0" * 40, "abc"]}, "x509_key_name: its signature is wrong"),
            ({"destination_x509_ca": None}, "destination_x509_ca: the certificate of the other cluster is needed"),
            ({"destination_x509_ca": certificate}, "destination_x509_ca: signature missing"),
            ({"destination_x509_ca": f"X-Ganeti-Signature: a/{'0' * 40}\n{certificate}"}, "signature invalid"),
            ({"target_node": "node1"}, "a list with the destination of each disk"),
            ({"target_node": told["disks"][:1]}, "of 1 disks are given, and the instance has 2"),
            ({"target_node": told["disks"][::-1]}, "disk/0: its signature is wrong"),
            ({"target_node": forged}, "disk/1: its signature is wrong"),
            ({"shutdown": False}, "can be removed only if it is shut down before"),
        ):
            self.assertRegex(self.ended(self.cluster, self.export(given, told, **more), 5), reason)
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.other.pass_time(400)
        self.is_untouched(running=True)

    def test_nobody_comes(self) -> None:
        """The destination waits as long as the source may take to stop the instance, and then takes all of it back."""
        self.made()
        job_id = self.create(self.prepared(), source_shutdown_timeout=30)
        self.listening(job_id)
        self.other.pass_time(150)
        self.assertEqual(self.job_of(self.other, job_id).status.value, "running")
        self.assertRegex(self.ended(self.other, job_id, 90), "disk/0.*the other cluster has not connected within 210")
        self.assertEqual(self.keys(self.other), [])
        self.is_untouched(running=True)

    def test_replayed(self) -> None:
        """What has served once serves nobody again."""
        self.made()
        given = self.prepared()
        receiving = self.create(given)
        told = self.listening(receiving)
        sending = self.export(given, told, remove_instance=False, long_sleep=True)
        self.assertEqual([self.ended(self.cluster, sending), self.ended(self.other, receiving)], ["success"] * 2)
        again = self.ended(self.cluster, self.export(given, told))
        self.assertRegex(again, "there is no key x509-.* on node node2.*prepare the export anew")
        fresh = self.ended(self.cluster, self.export(self.prepared(), told), 300)
        self.assertRegex(fresh, "disk/0.*cannot connect to the other cluster")
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.assertEqual(disagreements(self.cluster), [])

    def test_wrong_certificate(self) -> None:
        """Two moves of clusters that trust one another are not taken for each other."""
        self.made()
        given, others = self.prepared(), self.prepared()
        receiving = self.create(given)
        sending = self.export(others, self.listening(receiving))
        self.assertRegex(self.ended(self.cluster, sending, 300), "cannot connect to the other cluster")
        self.assertRegex(self.ended(self.other, receiving, 120), "has not connected")
        self.is_untouched(running=True)

    def test_expired(self) -> None:
        """An own key that is not good any more is found before anything is stopped."""
        self.made()
        given = self.prepared()
        self.cluster.pass_time(DAY + 600)
        told = self.listening(self.create(self.prepared()))
        self.assertRegex(
            self.ended(self.cluster, self.export(given, told), 5), "x509_key_name: the certificate expired"
        )
        self.assertEqual(self.cluster.running(), {"node2.example.com": [NAME]})
        self.other.pass_time(400)

    def test_fails(self) -> None:
        """Whatever is refused on the way, the instance is where it was, and runs."""
        self.made()
        for kind in (X509CertCreate, ScriptImportStart, ScriptExportStart):

            def refuse(node: str, call: NodeCall[object], kind: type[NodeCall[object]] = kind) -> Says | None:
                return Says("not today") if isinstance(call, kind) else None

            self.check_fails(refuse)

    def check_fails(self, fault: Fault) -> None:
        """With a fault in both clusters from the creation on."""
        given = self.prepared()
        self.cluster.network.fault = self.other.network.fault = fault
        receiving = self.create(given)
        self.other.pass_time(10)
        log = [entry for entry in self.job_of(self.other, receiving).ops[0].log if entry[2] == REMOTE_IMPORT]
        if log:
            self.assertIn("not today", self.ended(self.cluster, self.export(given, log[0][3])))
            self.assertRegex(self.ended(self.other, receiving, 400), "not connected|broken off")
        else:
            self.assertIn("not today", self.ended(self.other, receiving))
        self.cluster.network.fault = self.other.network.fault = None
        self.assertEqual(self.keys(self.other), [])
        self.is_untouched(running=True)

    def test_canceled(self) -> None:
        """A destination that is told to stop leaves nothing, and the source goes on as before."""
        self.made()
        given = self.prepared()
        receiving = self.create(given)
        told = self.listening(receiving)
        client = DrivingClient(self.other)
        self.addCleanup(client.close)
        self.other.transfer_wire.rate = 1.0
        sending = self.export(given, told)
        self.other.pass_time(10)
        client.call("CancelJob", [receiving, True])
        self.assertRegex(self.ended(self.cluster, sending), "could not copy disk/")
        self.assertIn(self.job_of(self.other, receiving).status.value, ("canceled", "canceling"))
        self.is_untouched(running=True)

    def test_private(self) -> None:
        """The keys are seen by root alone, and the secret is in no file of a job."""
        self.made()
        given = self.prepared()
        node = self.cluster.node(2)
        directory = self.cluster.paths.crypto_keys_dir / given["x509_key_name"][0]
        for name in ("key", "cert"):
            self.assertEqual((node.disk.content(directory / name) or (b"", 0))[1], 0o400)
        found = {path.name for path in self.cluster.master.disk.find(SECRET.value.encode())}
        self.assertEqual(found, {"cluster-domain-secret"})
        self.assertLess(len(msgpack.encode(given)), 1 << 16)
