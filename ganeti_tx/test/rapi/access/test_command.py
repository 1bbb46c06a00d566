"""The command that changes users and tokens."""

import io
import stat
from collections.abc import Mapping
from pathlib import Path

import bcrypt
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ExitCode, GenericError
from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.access.authorization import BearerLogin
from ganeti_tx.rapi.access.command import Terminal, run
from ganeti_tx.rapi.access.rights import Rights
from ganeti_tx.rapi.access.tokens import StoredTokens, Token, parse_tokens
from ganeti_tx.rapi.access.users import parse_users
from ganeti_tx.rapi.access.watched_file import WatchedFile
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.ownership import no_owners
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.rapi.access.gates import NOW


class Tty(io.StringIO):
    """Input that somebody types."""

    def isatty(self) -> bool:
        """It is one."""
        return True


class Impatient(Tty):
    """Somebody who would rather not type."""

    def isatty(self) -> bool:
        """He ends the command."""
        raise KeyboardInterrupt


class CommandCase(SynchronousTestCase):
    """Runs of the command over a directory of its own."""

    def setUp(self) -> None:
        """Nothing is there yet."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.files = RealFiles(InlineThreads())
        self.entropy = SeededEntropy()
        self.owned: list[str] = []
        self.lacking: list[tuple[str, str]] = []
        self.spread_error: GenericError | None = None
        self.withdraw_error: BaseException | None = None
        self.spreads = 0
        self.withdrawn: list[str] = []
        self.until: list[int] = []
        self.now = float(NOW)
        self.jobs: list[str] = []

    def run_it(self, line: str, stdin: str | Tty = "", typed: list[str] | None = None) -> tuple[int, str, str]:
        """The exit status, and what it wrote."""
        out, err = io.StringIO(), io.StringIO()
        given = io.StringIO(stdin) if isinstance(stdin, str) else stdin
        terminal = Terminal(
            paths=self.paths, files=self.files, owners=no_owners, entropy=self.entropy, now=lambda: self.now, stdin=given,
            out=out, err=err, ask=lambda _prompt: (typed or []).pop(0), cost=4, spread=self.spread,
            withdraw=self.withdraw,
        )  # fmt: skip
        return run(terminal, line.split()), out.getvalue(), err.getvalue()

    def spread(self) -> list[tuple[str, str]]:
        """The master daemon's answer."""
        self.spreads += 1
        self.now += 5
        if self.spread_error is not None:
            raise self.spread_error
        return self.lacking

    def withdraw(self, caller: str, until: int) -> list[str]:
        """What becomes of somebody's jobs."""
        self.withdrawn.append(caller)
        self.until.append(until)
        if error := self.withdraw_error or self.spread_error:
            raise error
        return self.jobs

    def ok(self, line: str, stdin: str | Tty = "", typed: list[str] | None = None) -> str:
        """What a run that succeeds writes to standard output."""
        status, out, err = self.run_it(line, stdin, typed)
        self.assertEqual(status, 0, err)
        return out

    def fails(self, line: str, message: str, stdin: str | Tty = "", typed: list[str] | None = None) -> None:
        """A run that does not, and changes nothing."""
        before = self.contents()
        status, out, err = self.run_it(line, stdin, typed)
        self.assertEqual((status, out), (1, ""))
        self.assertIn(message, err)
        self.assertEqual(err.count("\n"), 1)
        self.assertEqual(self.contents(), before)

    def contents(self) -> list[str]:
        """Both files."""
        return [path.read_text() if path.exists() else "" for path in
                (self.paths.rapi_users_file, self.paths.rapi_tokens_file)]  # fmt: skip


class PlaceTests(CommandCase):
    """Where the command is run."""

    def test_not_the_master(self) -> None:
        """What would be lost with the next redist-conf is refused with the master's name; looking is not."""
        self.ok("user add jack", "secret\n")
        before = self.contents()
        self.paths.ssconf_file("master_node").write_text("node1.example.com\n")
        for line in ("user add ann", "user modify jack --role @admin", "user password jack", "user remove jack",
                     "token add ci", "token revoke ci"):  # fmt: skip
            status, out, err = self.run_it(line, "secret\n")
            self.assertEqual((status, out), (ExitCode.NOTMASTER, ""), line)
            self.assertRegex(
                err, r"^ganeti-rapi-access: [^\n]*not the master of the cluster, node1.example.com is[^\n]*\n$"
            )
        self.assertEqual(self.contents(), before)
        self.assertIn("jack", self.ok("user list"))


class LinkTests(CommandCase):
    """The files lie in a directory of the daemon's user, and the command is root's."""

    def test_link(self) -> None:
        """What a link in a file's place leads to is not taken for the file, which root would give to the daemon."""
        self.ok("user add jack", "secret\n")
        other = self.paths.rapi_dir / "other"
        self.paths.rapi_users_file.rename(other)
        self.paths.rapi_users_file.symlink_to(other)
        self.fails("user remove jack", "users", "")
        self.assertTrue(self.paths.rapi_users_file.is_symlink())


class SpreadTests(CommandCase):
    """Other nodes get what changed before the command ends, or the administrator hears which do not."""

    def test_each_change(self) -> None:
        """Looking changes nothing, so it spreads nothing."""
        self.ok("user add jack", "secret\n")
        self.ok("user list")
        self.ok("token add ci")
        self.ok("token revoke ci")
        self.assertEqual(self.spreads, 3)
        self.run_it("token revoke ci")
        self.assertEqual(self.spreads, 3)

    def test_candidate_without(self) -> None:
        """A candidate that lacks the change is named; the change is made."""
        self.lacking = [("node3.example.com", "no answer within 5 s")]
        status, _out, err = self.run_it("user add jack", "secret\n")
        self.assertEqual(status, 0)
        self.assertIn("master candidate node3.example.com does not have this change yet", err)
        self.assertIn("no answer within 5 s", err)

    def test_no_master_daemon(self) -> None:
        """Without the master daemon nobody has it, which is said."""
        self.spread_error = GenericError("it does not run")
        status, _out, err = self.run_it("user add jack", "secret\n")
        self.assertEqual(status, 0)
        self.assertIn("no other node has this change yet", err)


class TokenTests(CommandCase):
    """Tokens come and go."""

    def add(self, line: str) -> str:
        """A new one's secret."""
        return self.ok(f"token add {line}").strip()

    def found(self, secret: str, now: float = NOW) -> Rights | None:
        """What a secret gives at some time."""
        file: WatchedFile[Mapping[str, Token]] = WatchedFile(self.files, self.paths.rapi_tokens_file, parse_tokens, {})
        file.read()
        identity = StoredTokens(file, lambda: now).find(BearerLogin(secret))
        return None if identity is None else identity.rights

    def test_add(self) -> None:
        """The secret is shown once and kept nowhere; the file is for the daemon alone."""
        secret = self.add("ci --role @readonly --allow instances_name_startup:PUT --scope tag=web --expires 30d")
        rights = self.found(secret)
        assert rights is not None
        self.assertEqual((rights.roles, rights.scopes), ({"readonly"}, {Scope("tag", "web")}))
        self.assertNotIn(secret, self.contents()[1])
        self.assertIsNotNone(self.found(secret, NOW + 30 * 86400 - 1))
        self.assertIsNone(self.found(secret, NOW + 30 * 86400))
        self.assertEqual(stat.S_IMODE(self.paths.rapi_tokens_file.stat().st_mode), 0o640)
        self.assertGreater(len(secret), 40)
        self.assertNotEqual(secret, self.add("cd"))

    def test_list(self) -> None:
        """Names, ends and rights are shown, and no hash."""
        self.add("ci --role readonly --expires 2026-01-02T00:00:00Z")
        self.add("cd --expires never")
        out = self.ok("token list")
        self.assertEqual(out, "ci 2026-01-02T00:00:00Z @readonly\ncd never\n")

    def test_revoke(self) -> None:
        """A token that is revoked is nobody's; others stay."""
        one, two = self.add("one"), self.add("two")
        self.ok("token revoke one")
        self.assertIsNone(self.found(one))
        self.assertIsNotNone(self.found(two))
        self.fails("token revoke one", "there is no token 'one'")

    def test_faults(self) -> None:
        """What is wrong is told in one line, and nothing is changed."""
        self.add("ci")
        for line, message in [
            ("token add ci", "token 'ci' is there already"),
            ("token add c:i", "'c:i' is no name for a token"),
            ("token add x --expires soon", "'soon' is no end"),
            ("token add x --expires 2025-01-01T00:00:00Z", "is not in the future"),
            ("token add x --expires 999999w", "is not in the future"),
            ("token add x --role @unheard", "'@unheard' would give nothing"),
            ("token add x --allow instance", "'instance' would give nothing: it is no resource; there are 2, cluster_"),
            ("token add x --scope write", "stand after --scope"),
            ("token add x --allow tag=web", "stand after --scope"),
            ("token add x --scope tags=web", "'tags=web' is no scope"),
        ]:
            self.fails(line, message)

    def test_own_role(self) -> None:
        """A role of the roles file may be given."""
        self.paths.rapi_roles_file.parent.mkdir(parents=True)
        self.paths.rapi_roles_file.write_text("ops instances_name_startup\n")
        self.assertIsNotNone(self.found(self.add("ci --role @ops")))


class ScopeTests(CommandCase):
    """What people and programs are kept to."""

    def test_list(self) -> None:
        """Everybody by his scopes, from all the files; nobody where there are none."""
        self.assertEqual(self.ok("scope list"), "")
        self.ok("user add jack --allow write --scope tag=web,group=rack1", "secret\n")
        self.ok("token add ci --scope group=rack1")
        self.paths.rapi_roles_file.write_text("ops write,group=rack2\n")
        self.paths.rapi_ldap_file.write_text("group Web Team = read,tag=web\n")
        listed = self.ok("scope list").splitlines()
        kept = ["group=rack1 token ci", "group=rack1 user jack", "group=rack2 role ops"]
        self.assertEqual(sorted(listed), [*kept, "tag=web directory group web team", "tag=web user jack"])


class LdapTests(CommandCase):
    """The settings of the directory."""

    def test_check(self) -> None:
        """A file that is missing is told, and so are faults, all of them."""
        self.fails("ldap check", "there is no file")
        self.paths.rapi_ldap_file.write_text("url = ldap://example.com\nnonsense = 1\n")
        self.fails("ldap check", "there is no key 'nonsense'")
        self.fails("ldap check jack", "passwords would cross the network in clear")

    def test_files_that_are_named(self) -> None:
        """Files and roles that the settings name and that are not there are faults, too, and are told at once."""
        self.fails("ldap check", "there is no file")  # and makes the directory
        lines = [
            "url = ldaps://ldap.example.com",
            "search_base = o=x",
            "group_base = o=g",
            "group Web = @webteam,nods:GET",
        ]
        nowhere = ["bind_dn = cn=x\nbind_password_file = /no/password", "ca_file = /no/ca"]
        self.paths.rapi_ldap_file.write_text("\n".join([*lines, *nowhere]))
        for text in ("ca_file", "bind_password_file", "web: '@webteam'", "web: 'nods'"):
            self.fails("ldap check", text)
        self.paths.rapi_ldap_file.write_text("\n".join([*lines[:-1], "group Web = @readonly"]))
        self.fails("ldap check jack", "no password was given")


class UserTests(CommandCase):
    """Users come and go."""

    def password_of(self, name: str) -> bytes:
        """The hash in the file."""
        return parse_users(self.paths.rapi_users_file.read_bytes())[name].password.stored.encode()

    def test_add(self) -> None:
        """The password is read from standard input and kept as a bcrypt hash."""
        self.ok("user add jack --allow read,write", "sec ret\n")
        self.assertTrue(bcrypt.checkpw(b"sec ret", self.password_of("jack")))
        self.assertEqual(self.ok("user list"), "jack {BCRYPT} read,write\n")
        self.fails("user add jack", "user 'jack' is there already", "x\n")

    def test_prompt(self) -> None:
        """At a terminal it is asked for twice."""
        self.ok("user add jack", Tty(), ["pw", "pw"])
        self.assertTrue(bcrypt.checkpw(b"pw", self.password_of("jack")))
        self.fails("user add mel", "the two passwords differ", Tty(), ["pw", "wp"])

    def test_bad_passwords(self) -> None:
        """An empty password, and one longer than bcrypt reads, are refused."""
        for password in ["", "\n", "x" * 73, "a\0b"]:
            self.fails("user add jack", "a password has 1 to 72 bytes", password)

    def test_bad_names(self) -> None:
        """A name that no client could send, or no line could hold, is refused."""
        for name in ["a:b", "#a", "x" * 101]:
            self.fails(f"user add {name}", "is no user name", "pw\n")

    def test_changes(self) -> None:
        """A line is changed in its place, and all others stay to the letter."""
        text = "# people\n\n  jack\tclear read\nmel  {HA1}00 \n# end\n"
        self.paths.rapi_users_file.parent.mkdir(parents=True)
        self.paths.rapi_users_file.write_text(text)
        self.ok("user modify jack --allow write")
        self.assertEqual(self.contents()[0], text.replace("  jack\tclear read", "jack clear write"))
        self.ok("user password jack", "new\n")
        self.assertTrue(bcrypt.checkpw(b"new", self.password_of("jack")))
        self.ok("user remove jack")
        self.assertEqual(self.contents()[0], text.replace("  jack\tclear read\n", ""))
        for verb in ("remove", "modify", "password"):
            self.fails(f"user {verb} jack", "there is no user 'jack'", "x\n")

    def test_doubles(self) -> None:
        """Of several lines for one user none is left over."""
        self.paths.rapi_users_file.parent.mkdir(parents=True)
        self.paths.rapi_users_file.write_text("a one\nb pw\na two read\na three write\n")
        self.ok("user modify a --allow read")
        self.assertEqual(self.contents()[0], "a three read\nb pw\n")
        self.paths.rapi_users_file.write_text("a one\nb pw\na two\n")
        self.ok("user remove a")
        self.assertEqual(self.contents()[0], "b pw\n")

    def test_odd_line_ends(self) -> None:
        """Signs that some programs take for the end of a line are none: the right user goes."""
        self.paths.rapi_users_file.parent.mkdir(parents=True)
        for sign in "\f\v\x1c\x85\u2028\r":
            self.paths.rapi_users_file.write_text(f"# one{sign}two\na pw\nb pw\nc pw\n", newline="")
            self.ok("user remove b")
            left = self.paths.rapi_users_file.read_bytes().decode()
            self.assertEqual(left, f"# one{sign}two\na pw\nc pw\n")

    def test_broken_file(self) -> None:
        """A file with a fault is not changed before it is mended."""
        self.paths.rapi_users_file.parent.mkdir(parents=True)
        self.paths.rapi_users_file.write_text("lonely\n")
        self.fails("user add jack", "line 1: the password is missing", "pw\n")

    def test_one_at_a_time(self) -> None:
        """While another is changing the files, nothing is changed."""
        self.ok("user list")
        held = hold(self.paths.rapi_dir / ".lock", 0o600)
        self.addCleanup(held.release)
        self.fails("user add jack", "another ganeti-rapi-access is changing", "pw\n")
