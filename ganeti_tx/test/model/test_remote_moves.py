"""What two clusters sign for one another."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.remote_moves import (
    Destination,
    DomainSecret,
    check_handshake,
    destination,
    destinations,
    handshake,
    key_name,
    signed_key_name,
)

SECRET = DomainSecret("secret-of-two")
SALT = "60c1b8d3b04398bb"
DIGEST = "f82cc48d65594055d1c1372bba2ca9b557fe7173"
TO = Destination("192.0.2.9", 40123, "magicMAGIC")
#: A signature of Ganeti's, made for a test with a salt such as it never makes.
VECTOR, SHORT = "37e488e2576de31fe7241c927b40dde00803416c", "s4lt"
SIGNED = TO.signed(SECRET, 1, SALT)


class SignatureTests(SynchronousTestCase):
    """As Ganeti 3.0 makes and takes them (the signatures above are its own)."""

    def refused(self, reason: str, check: Any, *arguments: Any) -> None:
        """It is, in one line that says why and shows no secret."""
        error = self.assertRaises(OpPrereqError, check, *arguments)
        self.assertRegex(str(error), reason)
        self.assertNotIn(SECRET.value, str(error))
        self.assertEqual((error.ecode, str(error).count("\n")), ("wrong_input", 0))

    def test_handshake(self) -> None:
        """One of our own is what Ganeti's is; every other is refused."""
        self.assertEqual(handshake(SECRET, SALT), [0, DIGEST, SALT])
        check_handshake(SECRET, [0, DIGEST, SALT])
        check_handshake(SECRET, (0, DIGEST, SALT))
        for shown, reason in (
            (None, "a list of version, signature and salt is expected"),
            ([0, DIGEST], "a list of version"),
            ([True, DIGEST, SALT], "a list of version"),
            ([0, DIGEST, "other"], "do not share the secret"),
            ([0, DIGEST.upper(), SALT], "do not share the secret"),
            ([0, None, SALT], "do not share the secret"),
            ([0, DIGEST, ""], "do not share the secret"),
            ([0, "\ud800", SALT], "do not share the secret"),
            ([0, SECRET.sign("0:Hi, I'm Ganeti", "a b"), "a b"], "do not share the secret"),
            ([1, DIGEST, SALT], "do not share the secret"),
            ([1, SECRET.sign("1:Hi, I'm Ganeti", SALT), SALT], "version mismatch: it is 1, and this cluster speaks 0"),
        ):
            self.refused(f"source_handshake: .*{reason}", check_handshake, SECRET, shown)
        self.refused("do not share the secret", check_handshake, DomainSecret("another"), [0, DIGEST, SALT])

    def test_key_name(self) -> None:
        """Only names that this cluster has given away, and that can be names, are taken."""
        shown = signed_key_name(SECRET, "x509-2026-01-02_03_04_05-abcdef01", SALT)
        self.assertEqual(key_name(SECRET, shown), shown[0])
        for other, reason in (
            ([], "a list of name, signature and salt"),
            (["x509-other", *shown[1:]], "signature is wrong"),
            (signed_key_name(DomainSecret("another"), shown[0], SALT), "signature is wrong"),
            (signed_key_name(SECRET, "../server.pem", SALT), "not the name of a key: '../server.pem'"),
        ):
            self.refused(f"x509_key_name: .*{reason}", key_name, SECRET, other)

    def test_destination(self) -> None:
        """It is of one disk, and of nobody else."""
        self.assertEqual(TO.signed(SECRET, 1, SHORT), ["192.0.2.9", 40123, "magicMAGIC", VECTOR, SHORT])
        self.assertEqual(destination(SECRET, 1, SIGNED), TO)
        self.assertNotIn("magicMAGIC", repr(TO))
        for shown, reason in (
            (SIGNED[:4], "a list of host, port, magic, signature and salt is expected"),
            (["", *SIGNED[1:]], "missing destination host, port or magic"),
            (["192.0.2.8", *SIGNED[1:]], "signature is wrong"),
            (["-x 192.0.2.8", *SIGNED[1:]], "not a host"),
            ([SIGNED[0], 99999, *SIGNED[2:]], "not a port: '99999'; allowed are 1 to 65535"),
            ([*SIGNED[:2], "no", *SIGNED[3:]], "the magic is none"),
        ):
            self.refused(f"target_node: disk/1: .*{reason}", destination, SECRET, 1, shown)
        self.refused("disk/0: its signature is wrong", destination, SECRET, 0, SIGNED)

    def test_length_of_salts(self) -> None:
        """A signature stands for one text: no part of a salt can become part of it, nor the other way round."""
        ends_in_one = f"{SALT[:-1]}1"
        both = [TO.signed(SECRET, 0, ends_in_one)[3], TO.signed(SECRET, 10, ends_in_one[:-1])[3]]
        self.assertEqual(both[0], both[1])
        for index, salt in ((10, SALT[:-1]), (0, f"{SALT}1"), (1, SHORT), (1, ""), (1, f"{SALT[:-1]}:")):
            shown = TO.signed(SECRET, index, salt)
            self.refused(f"disk/{index}: its signature is wrong", destination, SECRET, index, shown)
        self.refused("do not share the secret", check_handshake, SECRET, handshake(SECRET, SALT[:-1]))

    def test_destinations(self) -> None:
        """As many as there are disks, in their order."""
        both = [TO.signed(SECRET, index, SALT) for index in (0, 1)]
        self.assertEqual(destinations(SECRET, 2, both), [TO, TO])
        self.refused("disk/0: its signature is wrong", destinations, SECRET, 2, both[::-1])
        self.refused("of 2 disks are given, and the instance has 1", destinations, SECRET, 1, both)
        self.refused("a list with the destination of each disk", destinations, SECRET, 1, "node1.example.com")
