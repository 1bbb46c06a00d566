"""Tests of the files that nodes have alike."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.verify.files import file_faults
from ganeti_tx.model.node_files import AUTHORITY_KEY, HMAC_KEY, RAPI_CERTIFICATE, RAPI_USERS
from ganeti_tx.test.logic.node.test_set_params import member

MASTER, SECOND, REGULAR = "node1.example.com", "node2.example.com", "node3.example.com"
KEYS = {HMAC_KEY.path: "h", RAPI_CERTIFICATE.path: "r"}
WITH_AUTHORITY = {**KEYS, AUTHORITY_KEY.path: "a"}


class FileFaultsTests(SynchronousTestCase):
    """The master, another candidate, a regular node."""

    nodes = (member(1, master_candidate=True), member(2, master_candidate=True), member(3))

    def faults(self, **changes: dict[str, str]) -> list[str]:
        """What is wrong when nodes have other files than they should."""
        told = {MASTER: WITH_AUTHORITY, SECOND: WITH_AUTHORITY, REGULAR: KEYS}
        return file_faults(
            self.nodes, MASTER, {**told, **{f"{node}.example.com": has for node, has in changes.items()}}
        )

    def test_well(self) -> None:
        """Each has what is declared for it; nobody misses what the master itself does not have."""
        self.assertEqual(self.faults(), [])

    def test_missing(self) -> None:
        """A key that a node lacks is named with all that lack it; only candidates lack the authority's."""
        has = {HMAC_KEY.path: "h"}
        self.assertEqual(
            self.faults(node2=has, node3=has),
            [
                f"File /var/lib/ganeti/rapi.pem is missing from node(s) {SECOND}, {REGULAR}",
                f"File /var/lib/ganeti/ca.key is missing from node(s) {SECOND}",
            ],
        )

    def test_surplus(self) -> None:
        """What a regular node kept though only candidates have it."""
        self.assertEqual(
            self.faults(node3=WITH_AUTHORITY), [f"File /var/lib/ganeti/ca.key should not exist on node(s) {REGULAR}"]
        )

    def test_not_on_the_master(self) -> None:
        """What others have and the master has not, as if it had come to them from elsewhere."""
        self.assertEqual(
            self.faults(node2={**WITH_AUTHORITY, RAPI_USERS.path: "u"}),
            [
                "File /var/lib/ganeti/rapi/users is optional, but it must exist on all or no nodes "
                f"(not found on {MASTER}, {REGULAR})"
            ],
        )

    def test_different(self) -> None:
        """Who has which variant."""
        self.assertEqual(
            self.faults(node2={**WITH_AUTHORITY, HMAC_KEY.path: "other"}),
            [
                "File /var/lib/ganeti/hmac.key found with 2 different checksums "
                f"(variant 1 on {MASTER}, {REGULAR}; variant 2 on {SECOND})"
            ],
        )

    def test_silent(self) -> None:
        """A node that told nothing lacks nothing."""
        self.assertEqual(file_faults(self.nodes, MASTER, {MASTER: WITH_AUTHORITY}), [])
