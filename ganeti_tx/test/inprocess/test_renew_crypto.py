"""The cluster's keys are replaced: at no moment, and whatever goes wrong, is a node cut off from the others."""

from cryptography import x509

from ganeti_tx.bootstrap.keys import utc_now
from ganeti_tx.model import confd_keys
from ganeti_tx.model.node_certificates import coming
from ganeti_tx.rpc.calls.cluster import ClusterCopies
from ganeti_tx.rpc.calls.keys import NodeTakeKeys
from ganeti_tx.runtime.certificates import create_authority
from ganeti_tx.runtime.cluster_authority import have_in_common
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.each_call import TICK, is_of_a_job, walks
from ganeti_tx.test.inprocess.keys_case import KeyOperation, KeysCase, read, talk_faults
from ganeti_tx.test.inprocess.network import Trouble

OP = {"OP_ID": "OP_CLUSTER_RENEW_CRYPTO"}
ALL = KeyOperation(
    "gnt-cluster renew-crypto -f --new-cluster-certificate --new-confd-hmac-key",
    opcode={**OP, "cluster_certificate": True, "confd_hmac_key": True},
)
NODES = KeyOperation("gnt-cluster renew-crypto -f --new-node-certificates", opcode={**OP, "node_certificates": True})
OWN = ("client.pem", "server.pem")
SHARED = ("ca.pem", "hmac.key", "hmac-accepted", "rapi.pem")


def unfinished(cluster: InProcessCluster) -> list[str]:
    """What of a renewal is still under way."""
    found = [f"certificates of {uuid} are coming" for uuid in coming(cluster.config.cluster.candidate_certs)]
    if cluster.master.disk.exists(cluster.paths.data_dir / "ca-next.pem"):
        found.append("an authority waits to be used")
    for node in cluster.members:
        if len(x509.load_pem_x509_certificates(read(node, "ca.pem"))) > 1:
            found.append(f"{node.name} trusts several authorities")
        if node.disk.exists(node.paths.confd_keys) and len(confd_keys.decode(read(node, "hmac-accepted"))) > 1:
            found.append(f"{node.name} accepts several keys of confd")
    return found


class RenewCase(KeysCase):
    """Looks all the time whether all nodes talk."""

    def assert_agreed(self, cluster: InProcessCluster, where: str) -> None:
        """And nothing is under way any more."""
        super().assert_agreed(cluster, where)
        self.assertEqual(unfinished(cluster), [], where)

    def until_called(self, cluster: InProcessCluster, job_id: int, number: int) -> None:
        """As they do, with a look at each moment."""
        begun = cluster.time.seconds()
        while sum(map(is_of_a_job, cluster.network.sent)) <= number and not self.job(job_id).finalized:
            self.assertLess(cluster.time.seconds() - begun, 600)
            cluster.pass_time(TICK)
        self.assertEqual([*talk_faults(cluster)], [])


class RenewTests(RenewCase):
    """By the command."""

    def files(self, *names: str) -> list[bytes]:
        """On all nodes."""
        return [read(node, name) for node in self.cluster.members for name in names]

    def assert_all_new(self, before: list[bytes], *names: str) -> None:
        """None of the files is as it was."""
        self.assertEqual(set(before) & set(self.files(*names)), set())

    def test_authority(self) -> None:
        """A new authority signs all nodes' certificates and the Remote API's; the former one is trusted no more."""
        before = self.files(*OWN, "ca.pem", "ca.key", "rapi.pem")
        said = self.ok("gnt-cluster renew-crypto -f --new-cluster-certificate")
        self.assertIn("All requested certificates and keys have been replaced", said)
        self.assert_all_new(before, *OWN, "ca.pem", "ca.key", "rapi.pem")
        self.assert_agreed(self.cluster, said)
        for name in ("ca.pem", "ca.key", "rapi.pem"):
            self.assertEqual(len(set(self.files(name))), 1, name)
        self.ok("gnt-cluster verify")

    def test_left_by_a_former_master(self) -> None:
        """An authority that was made in a renewal which another master has ended is not used years after."""
        stale = create_authority("cluster.example.com", utc_now())
        put(self.cluster.master.disk, self.cluster.paths.data_dir / "ca-next.pem", stale.bundle)
        self.ok("gnt-cluster renew-crypto -f --new-cluster-certificate")
        for trusted in self.files("ca.pem"):
            self.assertFalse(have_in_common(trusted, stale.certificate))
        self.assert_agreed(self.cluster, "at the end")

    def test_nodes(self) -> None:
        """New certificates of the same authority; those of before count no more."""
        before, authority = self.files(*OWN), self.files("ca.pem", "ca.key", "rapi.pem")
        certificates = set(self.cluster.config.cluster.candidate_certs.values())
        said = self.ok(f"{NODES.line} --verbose")
        for node in self.cluster.members:
            self.assertIn(f"* give node {node.name} its new certificates\n", said)
        self.assert_all_new(before, *OWN)
        self.assertEqual(self.files("ca.pem", "ca.key", "rapi.pem"), authority)
        self.assertEqual(certificates & set(self.cluster.config.cluster.candidate_certs.values()), set())
        self.assert_agreed(self.cluster, "at the end")

    def test_confd(self) -> None:
        """All nodes have the new key of confd."""
        before = self.files("hmac.key")
        said = self.ok("gnt-cluster renew-crypto -f --new-confd-hmac-key")
        self.assertNotIn("* ", said)
        self.assert_all_new(before, "hmac.key")
        self.assertEqual(len(set(self.files("hmac.key"))), 1)
        self.assert_agreed(self.cluster, "at the end")

    def watch(self, operation: KeyOperation) -> None:
        """It succeeds, and at each moment all talk."""
        job_id = self.begin(self.cluster, operation)
        moments = 0
        while not self.job(job_id).finalized:
            self.cluster.pass_time(TICK)
            self.assertEqual([*talk_faults(self.cluster)], [])
            moments += 1
        self.assertEqual(self.statuses(job_id), ["success"])
        self.assertGreater(moments, 20)
        self.assert_agreed(self.cluster, "at the end")

    def test_every_moment(self) -> None:
        """All nodes talk to each other at each moment of it."""
        self.watch(ALL)

    def test_node_that_does_not_answer(self) -> None:
        """It is named, with what to do, and nothing was changed; one that is offline is left out."""
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        before = self.files(*OWN, *(name for name in SHARED if name != "hmac-accepted"))
        self.fails(ALL.line, "nothing was changed.*node3.*")
        self.assertEqual(self.files(*OWN, *(name for name in SHARED if name != "hmac-accepted")), before)
        self.ok("gnt-node modify -O yes --auto-promote node3")
        self.assertIn("'gnt-node add --readd' sets such a node up", self.ok(ALL.line))

    def test_node_that_falls_silent(self) -> None:
        """In the midst of it: the error names it, nobody is cut off, and the same command goes on when it is back."""
        third = self.cluster.node(3)

        def fault(node: str, call: object) -> Trouble | None:
            silent = node == third.name and not isinstance(call, ClusterCopies)
            return Trouble.REFUSED if silent and self.taken else None

        self.taken = False

        def watch(node: str, call: object) -> Trouble | None:
            self.taken |= isinstance(call, NodeTakeKeys)
            return fault(node, call)

        self.cluster.network.fault = watch
        self.fails(ALL.line, "node3")
        self.cluster.network.fault = None
        self.cluster.pass_time(60)
        self.assertEqual([*talk_faults(self.cluster)], [])
        _, said, _ = self.scene().run(["gnt-cluster", "verify"])
        self.assertIn("Keys of 3 node(s) are being replaced", said)
        self.assertIn("ca.pem has a former authority's certificate, too", said)
        self.assertNotIn("does not match its entry", said)
        self.watch(ALL)
        self.ok("gnt-cluster verify")
        self.assert_agreed(self.cluster, "at the end")

    def test_nothing_asked(self) -> None:
        """What is replaced must be said, and not twice."""
        self.fails("gnt-cluster renew-crypto -f", "no key or certificate was named")
        self.fails("gnt-cluster renew-crypto -f --new-rapi-certificate --rapi-certificate=x", "only one of")
        self.fails("gnt-cluster renew-crypto -f --spice-certificate=x", "must be given together")
        self.fails("gnt-cluster renew-crypto --new-node-certificates", "--force answers beforehand")


@walks({"all": ALL, "nodes": NODES})
class RenewWalks(RenewCase):
    """Whatever goes wrong all nodes talk, and the same command said again brings it to its end."""
