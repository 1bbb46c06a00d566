"""The users file and the passwords in it."""

import bcrypt
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.line_file import LineError
from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.access.passwords import Password, Scheme, decoy_like, ha1, matches, read_password
from ganeti_tx.rapi.access.rights import Permission, Rights
from ganeti_tx.rapi.access.users import User, parse_users

#: The form of one, cost 4.
BCRYPT = "$2b$04$OQ0L0dJzhHmDpmDDPMmRhu0bVRZYLaEpNBeHPCW4RxxO6nRYTTDSi"


def bcrypt_of(password: str) -> str:
    """A cheap hash."""
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


class ParseTests(SynchronousTestCase):
    """Lines of a users file."""

    def test_lines(self) -> None:
        """Comments and blank lines count for nothing; options are split at commas, and may be missing."""
        users = parse_users(b"# all of them\n\n  jack  abc123\nmel\t{cleartext}pw  read , write\n")
        self.assertEqual(users["jack"], User("jack", Password(Scheme.CLEAR, "abc123"), Rights()))
        self.assertEqual(
            users["mel"], User("mel", Password(Scheme.CLEAR, "pw"), Rights(options=frozenset({"read", "write"})))
        )

    def test_columns_of_ours(self) -> None:
        """Roles, permissions and scopes stand beside the options."""
        rights = parse_users(b"ann pw @ops,instances,instances_name_startup:PUT,tag=web,group=rack1")["ann"].rights
        self.assertEqual(rights.roles, {"ops"})
        self.assertEqual(rights.permissions, {Permission("instances"), Permission("instances_name_startup", "PUT")})
        self.assertEqual(rights.scopes, {Scope("tag", "web"), Scope("group", "rack1")})

    def test_last_line_counts(self) -> None:
        """Of two lines for one user the last one counts."""
        self.assertEqual(parse_users(b"a one\na two\n")["a"].password.stored, "two")

    def test_faults(self) -> None:
        """What cannot be understood is told with its line and without any password."""
        for text, message in [
            (b"a pw\nlonely\n", "line 2: the password is missing"),
            (b"a:b pw", "line 1: a user name has no colon"),
            (b"a pw read hidden", "line 1: an option cannot be understood; after USER PASSWORD come read, write"),
            (b"a pw hidden=web", "line 1: an option cannot be understood"),
            (b"a pw tag=", "line 1: an option cannot be understood"),
            (b"a pw instances:hidden", "line 1: an option cannot be understood"),
            (b"a pw @", "line 1: an option cannot be understood"),
            (b"a {BCRYPT}$2b$hidden", "line 1: not a bcrypt hash"),
            (b"a " + BCRYPT.replace("$04$", "$31$").encode(), "line 1: bcrypt cost 31 is not between 4 and 15"),
            (b"a \xff", "line 1: not UTF-8"),
        ]:
            error = self.assertRaises(LineError, parse_users, text)
            self.assertIn(message, str(error))
            self.assertNotIn("hidden", str(error))

    def test_secret_not_shown(self) -> None:
        """Logging a user shows no password."""
        self.assertNotIn("abc123", repr(parse_users(b"jack abc123\n")))


class PasswordTests(SynchronousTestCase):
    """Every scheme lets the right password in, and only that."""

    def check(self, stored: str, right: str, user: str = "jack") -> None:
        """Try the right one and some that are not."""
        password = read_password(stored)
        self.assertTrue(matches(password, user, right))
        for wrong in ["", right + "x", right[:-1], right.upper(), "\0" + stored, "\0" + right]:
            self.assertFalse(matches(password, user, wrong), wrong)

    def test_clear(self) -> None:
        """With no scheme, or {CLEARTEXT} in any case."""
        self.check("secret", "secret")
        self.check("{CLEARTEXT}sec}ret", "sec}ret")
        self.check("{Cleartext}{HA1}x", "{HA1}x")
        self.check("sécret", "sécret")

    def test_ha1(self) -> None:
        """{HA1} is the MD5 sum of user, realm and password, in hexadecimal digits of any case."""
        self.assertEqual(ha1("mel", "pw"), "4675b537e05ccb31b94a54fb38e28901")
        self.check("{HA1}" + ha1("jack", "secret"), "secret")
        self.check("{ha1}" + ha1("jack", "secret").upper(), "secret")
        self.assertFalse(matches(read_password("{HA1}" + ha1("mel", "secret")), "jack", "secret"))

    def test_bcrypt(self) -> None:
        """As {BCRYPT} or alone, as htpasswd writes it too."""
        hashed = bcrypt_of("secret")
        self.check(hashed, "secret")
        self.check("{BCRYPT}" + hashed, "secret")
        self.check("$2y$" + hashed[4:], "secret")

    def test_long_bcrypt(self) -> None:
        """A password longer than bcrypt reads works as where it was hashed."""
        self.assertTrue(matches(read_password(bcrypt_of("a" * 72)), "jack", "a" * 80))

    def test_unknown_scheme(self) -> None:
        """An unknown scheme lets nobody in, least of all with its own text."""
        for given in ["", "x", "SHA", "{SHA}x"]:
            self.assertFalse(matches(read_password("{SHA}x"), "jack", given))

    def test_forgotten(self) -> None:
        """Where the password was forgotten after its scheme, nobody gets in, least of all without one."""
        for scheme in ("{CLEARTEXT}", "{HA1}", "{}"):
            for given in ("", scheme):
                self.assertFalse(matches(read_password(scheme), "jack", given))

    def test_decoy(self) -> None:
        """The decoy takes as long as the slowest password there is, and nothing fits it."""
        passwords = [read_password(word) for word in ("clear", BCRYPT, BCRYPT.replace("$04$", "$05$"))]
        decoy = decoy_like(passwords)
        self.assertEqual(read_password(decoy.stored), decoy)
        self.assertTrue(decoy.stored.startswith("$2b$05$"))
        self.assertFalse(any(matches(decoy, "jack", given) for given in ("", ".", decoy.stored)))
        self.assertFalse(matches(decoy_like(passwords[:1]), "jack", ""))
