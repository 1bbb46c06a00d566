"""Logging in to the Remote API at a real directory server."""

import io
from pathlib import Path
from typing import cast
from unittest import SkipTest

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorThreads
from twisted.internet.task import Clock
from twisted.logger import ILogObserver, LogEvent, formatEvent, globalLogPublisher
from twisted.trial.unittest import TestCase
from zope.interface import provider

from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.access.command import Terminal, run
from ganeti_tx.rapi.access.composition import GateParts, make_gate
from ganeti_tx.rapi.access.ldap_directory import Directory
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.rapi.operations.operation import Operation
from ganeti_tx.runtime.entropy import SystemEntropy
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.ownership import no_owners
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads, reactor_threads
from ganeti_tx.test.fakes.file_watch import MemoryFileWatch
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.rapi.access.gates import CREATE, OPERATIONS, QUERY, STARTUP, basic
from ganeti_tx.test.real.slapd import BASE, HOST, PROGRAM, SEARCHER, SEARCHER_PASSWORD, Slapd

PEOPLE = {"jack": "jack-secret", "mel.o": "mel-secret", "outsider": "out-secret", "weird*name": "weird-secret"}
GROUPS = {"Admins": ["jack"], "web": ["mel.o"], "others": ["outsider", "jack"], "odd": ["weird*name"]}
RIGHTS = "group admins = @admin\ngroup web = write,tag=web\ngroup odd = read\n"


class LdapCase(TestCase):
    """Each test has a server of its own."""

    timeout = 300

    def setUp(self) -> None:
        """Start it; the gate's clock stands still."""
        if not PROGRAM.exists():
            raise SkipTest("slapd is not installed")
        self.slapd = Slapd(Path(self.mktemp()).absolute(), PEOPLE, GROUPS)
        self.slapd.prepare()
        self.slapd.start()
        self.addCleanup(self.slapd.stop)
        self.clock = Clock()
        self.password_file = Path(self.mktemp()).absolute()
        self.password_file.write_text(SEARCHER_PASSWORD + "\n")

    def searching(self, more: str = "", url: str | None = None) -> str:
        """Settings with a search account."""
        where = url or f"ldaps://{HOST}:{self.slapd.tls_port}"
        return (
            f"url = {where}\nca_file = {self.slapd.authority}\nsearch_base = ou=people,{BASE}\n"
            f"bind_dn = {SEARCHER}\nbind_password_file = {self.password_file}\n"
            f"group_base = ou=groups,{BASE}\ntimeout = 2\nconnect_timeout = 2\n{RIGHTS}{more}"
        )

    def direct(self, more: str = "", url: str | None = None) -> str:
        """Settings with a template of names."""
        where = url or f"ldaps://{HOST}:{self.slapd.tls_port}"
        return (
            f"url = {where}\nca_file = {self.slapd.authority}\nuser_dn = uid={{user}},ou=people,{BASE}\n"
            f"group_base = ou=groups,{BASE}\ntimeout = 2\nconnect_timeout = 2\n{RIGHTS}{more}"
        )

    def use(self, settings: str, users: str = "local pw write\n") -> None:
        """A gate with these settings."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        files = RealFiles(InlineThreads())
        files.mkdir(self.paths.rapi_dir)
        self.paths.rapi_ldap_file.write_text(settings)
        self.paths.rapi_users_file.write_text(users)
        watched = MemoryFiles()
        watched.mkdir(self.paths.rapi_dir)
        gate_parts = GateParts(
            paths=self.paths, files=files, watch=MemoryFileWatch(watched), threads=reactor_threads(cast(IReactorThreads, reactor)),
            clock=self.clock, entropy=SystemEntropy(), now=self.clock.seconds,
        )  # fmt: skip
        self.gate = make_gate(gate_parts, OPERATIONS)
        self.peers = 0

    def admit(self, name: str, password: str, asked: Operation = STARTUP) -> Deferred[Caller]:
        """Ask to be let in, from another address each time."""
        self.peers += 1
        peer = f"192.0.2.{self.peers}"
        return Deferred.fromCoroutine(self.gate.admit(basic(name, password), peer, asked, {}))

    async def refused(self, name: str, password: str, asked: Operation = STARTUP) -> HttpError:
        """Why one is not let in."""
        try:
            caller = await self.admit(name, password, asked)
        except HttpError as error:
            return error
        raise AssertionError(f"{caller} was let in")

    async def status(self, name: str, password: str, asked: Operation = STARTUP) -> int:
        """Only its number."""
        return (await self.refused(name, password, asked)).status

    def connections(self) -> int:
        """How many the search account has."""
        return len(self.directory()._idle)

    def directory(self) -> Directory:
        """What is asked."""
        _local, ldap, _nobody = self.gate.sources
        directory: Directory = ldap._directory  # type: ignore[attr-defined]
        return directory


class LoginTests(LdapCase):
    """Who is let in, and with which rights."""

    async def check_logins(self) -> None:
        """The same with all kinds of settings."""
        self.assertEqual(await self.admit("jack", "jack-secret", CREATE), Caller("ldap:jack"))
        caller = await self.admit("mel.o", "mel-secret")
        self.assertEqual(caller, Caller("ldap:mel.o", frozenset({Scope("tag", "web")})))
        self.assertEqual(await self.status("jack", "wrong"), 401)
        self.assertEqual(await self.status("jack", ""), 401)
        self.assertEqual(await self.status("nobody", "jack-secret"), 401)
        self.assertEqual(await self.status("outsider", "out-secret"), 401)

    async def test_search(self) -> None:
        """With a search account, over ldaps; its connection is used again."""
        self.use(self.searching())
        await self.check_logins()
        self.assertEqual(self.connections(), 1)

    async def test_template(self) -> None:
        """With a template, over ldaps; people look for their own groups."""
        self.use(self.direct())
        await self.check_logins()
        self.assertEqual(self.connections(), 0)

    async def test_start_tls(self) -> None:
        """Both over StartTLS; the server refuses passwords in clear."""
        url = f"ldap://{HOST}:{self.slapd.port}"
        self.use(self.searching("start_tls = yes\n", url))
        await self.check_logins()
        self.use(self.direct("start_tls = yes\n", url))
        await self.check_logins()

    async def test_command(self) -> None:
        """The administrator's command tells what somebody's groups give, or what is wrong."""
        self.use(self.searching())
        self.assertEqual(self.check_by_command("mel.o", "mel-secret"), (0, "write,tag=web\n", ""))
        status, out, err = self.check_by_command("mel.o", "wrong")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("'mel.o' is refused", err)
        self.slapd.stop()
        status, _out, err = self.check_by_command("mel.o", "mel-secret")
        self.assertEqual((status, err.count("\n")), (1, 1))
        self.assertIn(f"ldaps://localhost:{self.slapd.tls_port}: ", err)

    def check_by_command(self, name: str, password: str) -> tuple[int, str, str]:
        """The exit status of `ldap check` and what it wrote."""
        out, err = io.StringIO(), io.StringIO()
        terminal = Terminal(
            paths=self.paths, files=RealFiles(InlineThreads()), owners=no_owners, entropy=SystemEntropy(),
            now=lambda: 0, stdin=io.StringIO(f"{password}\n"), out=out, err=err, ask=lambda _prompt: "",
        )  # fmt: skip
        return run(terminal, ["ldap", "check", name]), out.getvalue(), err.getvalue()

    async def test_injection(self) -> None:
        """Names with the characters of filters and distinguished names are nothing but names."""
        for settings in (self.searching(), self.direct()):
            self.use(settings)
            self.assertEqual((await self.admit("weird*name", "weird-secret", QUERY)).name, "ldap:weird*name")
            for name in (
                "*",
                "jac*",
                "jack)(uid=*",
                "*)(|(uid=*",
                "jack,ou=people",
                "jack\\",
                "jack\\00",
                "jack+cn=jack",
            ):
                self.assertEqual(await self.status(name, "jack-secret"), 401, name)
            for name in (" jack", "jack ", "jack\0", "jack\t"):
                self.assertEqual(await self.status(name, "jack-secret"), 401, name)

    async def test_local_first(self) -> None:
        """Users of the users file are never looked for in the directory."""
        self.use(self.searching(), "jack local-secret write\n")
        self.assertEqual(await self.status("jack", "jack-secret"), 401)
        self.assertEqual(await self.admit("jack", "local-secret"), Caller("jack"))

    async def test_changed_password(self) -> None:
        """An old password is refused once the stated time is over, and was used meanwhile does not make it longer."""
        self.use(self.searching())
        await self.admit("jack", "jack-secret")
        self.slapd.set_password("jack", "new-secret")
        self.clock.advance(59)
        await self.admit("jack", "jack-secret")
        await self.admit("jack", "new-secret")
        self.clock.advance(1)
        self.assertEqual(await self.status("jack", "jack-secret"), 401)
        await self.admit("jack", "new-secret")

    async def test_no_cache(self) -> None:
        """With a time of 0 nothing is remembered: a lost group counts at once."""
        self.use(self.searching("cache_seconds = 0\n"))
        await self.admit("jack", "jack-secret")
        self.slapd.set_members("Admins", ["mel.o"])
        self.assertEqual(await self.status("jack", "jack-secret"), 401)

    async def test_too_many_groups(self) -> None:
        """When not all groups can be read nobody gets in, as the one left out may hold a scope."""
        self.use(self.searching("size_limit = 1\n"))
        self.assertEqual(await self.status("jack", "jack-secret"), 503)
        await self.admit("mel.o", "mel-secret")

    async def test_throttled(self) -> None:
        """Failed logins count here as well."""
        self.use(self.searching())
        request = basic("jack", "wrong")
        for expected in [401] * 10 + [429]:
            with self.assertRaises(HttpError) as caught:
                await Deferred.fromCoroutine(self.gate.admit(request, "192.0.2.1", STARTUP, {}))
            self.assertEqual(caught.exception.status, expected)


class CertificateTests(LdapCase):
    """To whom passwords are sent."""

    async def check_away(self, settings: str, word: str) -> None:
        """Nobody of the directory gets in, local users do, and the log says why."""
        logged: list[str] = []

        @provider(ILogObserver)
        def observer(event: LogEvent) -> None:
            logged.append(formatEvent(event))

        self.use(settings)
        globalLogPublisher.addObserver(observer)
        error = await self.refused("jack", "jack-secret")
        await self.refused("jack", "jack-secret")
        said = [line for line in logged if "the LDAP directory cannot be asked" in line]
        self.assertEqual([word in line for line in said], [True], logged)
        self.assertNotIn("secret", "".join(logged))
        globalLogPublisher.removeObserver(observer)
        self.assertEqual((error.status, error.headers), (503, {"Retry-After": "4"}))
        self.assertEqual(await self.admit("local", "pw"), Caller("local"))

    async def test_wrong_name(self) -> None:
        """A certificate with another name than was asked for is refused, with both kinds of TLS."""
        await self.check_away(self.searching(url=f"ldaps://127.0.0.1:{self.slapd.tls_port}"), "127.0.0.1")
        started = self.direct("start_tls = yes\n", f"ldap://127.0.0.1:{self.slapd.port}")
        await self.check_away(started, "127.0.0.1")

    async def test_unknown_authority(self) -> None:
        """So is one signed by an unknown authority."""
        text = self.searching().replace(f"ca_file = {self.slapd.authority}\n", "")
        await self.check_away(text, "CERTIFICATE_VERIFY_FAILED")

    async def test_missing_files(self) -> None:
        """Without the CA's file, or the search account's password, nobody gets in."""
        await self.check_away(self.searching().replace(str(self.slapd.authority), "/nonexistent/ca.pem"), "ca.pem")
        self.password_file.unlink()
        await self.check_away(self.searching(), str(self.password_file))


class AwayTests(LdapCase):
    """Servers that do not answer."""

    async def test_away(self) -> None:
        """While the server is away it is 503, and local users get in; when it is back, all is well again."""
        self.use(self.searching())
        await self.admit("mel.o", "mel-secret")
        self.slapd.stop()
        self.assertEqual(await self.status("jack", "jack-secret"), 503)
        await self.admit("local", "pw")
        await self.admit("mel.o", "mel-secret")
        self.slapd.start()
        self.clock.advance(5)
        await self.admit("jack", "jack-secret")

    async def test_kept_connection_lost(self) -> None:
        """A kept connection that the server has closed meanwhile is no fault."""
        self.use(self.searching())
        await self.admit("jack", "jack-secret")
        self.slapd.stop()
        self.slapd.start()
        await self.admit("mel.o", "mel-secret")

    async def test_second_server(self) -> None:
        """When the first server is away, the second is asked, and from then on first."""
        self.use(self.searching(url=f"ldaps://{HOST}:1 ldaps://{HOST}:{self.slapd.tls_port}"))
        await self.admit("jack", "jack-secret")
        self.assertEqual([url.port for url in self.directory()._urls], [self.slapd.tls_port, 1])

    async def test_hanging(self) -> None:
        """A server that takes connections and says nothing costs no more than its time."""
        self.use(self.searching().replace("timeout = 2", "timeout = 1"))
        self.slapd.hang()
        self.assertEqual(await self.status("jack", "jack-secret"), 503)
        await self.admit("local", "pw")
        self.slapd.go_on()
        self.clock.advance(5)
        await self.admit("jack", "jack-secret")


del LdapCase
