"""Who is let in."""

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import ILogObserver, LogEvent, formatEvent, globalLogPublisher
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer, provider
from zope.interface.verify import verifyObject

from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.access.passwords import ha1
from ganeti_tx.rapi.access.throttle import ADDRESS_FAILURES
from ganeti_tx.rapi.access.tokens import hash_of, new_secret
from ganeti_tx.rapi.caller import ANONYMOUS, Caller, IGate
from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.runtime.threads import IThreads
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.rapi.access.gates import CREATE, INFO, INSTANCES, QUERY, STARTUP, MemoryGate, basic
from ganeti_tx.test.rapi.access.test_users import bcrypt_of

USERS = f"""
jack secret write
mel {{HA1}}{ha1("mel", "pw")} read
bea {bcrypt_of("bpw")} write
guest guest
"""


@implementer(IThreads)
class HeldThreads:
    """Threads whose calls wait until they are let go."""

    def __init__(self) -> None:
        self.calls: list[tuple[Deferred[Any], Callable[[], Any]]] = []

    def run(self, func: Callable[..., Any], *args: object) -> Deferred[Any]:
        """See `IThreads`."""
        answer: Deferred[Any] = Deferred()
        self.calls.append((answer, lambda: func(*args)))
        return answer

    def go(self) -> None:
        """Let the oldest call end."""
        answer, call = self.calls.pop(0)
        answer.callback(call())


class GateCase(SynchronousTestCase):
    """What the gate answers."""

    def admitted(self, access: MemoryGate, *request: Any, **where: Any) -> Caller:
        """Who was let in."""
        return self.successResultOf(access.request(*request, **where))

    def refused(self, access: MemoryGate, *request: Any, **where: Any) -> HttpError:
        """Why not."""
        return self.failureResultOf(access.request(*request, **where), HttpError).value


class BasicTests(GateCase):
    """Passwords of the users file."""

    def setUp(self) -> None:
        """Some users."""
        self.access = MemoryGate({"users": USERS})

    def test_interface(self) -> None:
        """It is a gate."""
        self.assertTrue(verifyObject(IGate, self.access.gate))

    def test_schemes(self) -> None:
        """The right password lets in, whatever way it is kept, and the scheme's name in any case."""
        self.assertEqual(self.admitted(self.access, basic("jack", "secret")), Caller("jack"))
        self.assertEqual(self.admitted(self.access, basic("mel", "pw"), QUERY), Caller("mel"))
        self.assertEqual(self.admitted(self.access, basic("bea", "bpw")), Caller("bea"))
        self.admitted(self.access, basic("jack", "secret").replace("Basic", "bAsIc  "))

    def test_unauthorized(self) -> None:
        """Bad or missing credentials: 401 with the challenge, and no word about what was wrong."""
        wrong = [None, "", "Basic", "Basic !!!", "Basic amFjaw==", "Digest amFjazpzZWNyZXQ=", "Bearer x", "Basic \xff"]
        wrong += [basic("jack", "Secret"), basic("nobody", "secret"), basic("", ""), basic("jack", ""), "B" * 5000]
        for number, header in enumerate(wrong):
            error = self.refused(self.access, header, peer=f"192.0.2.{number}")
            self.assertEqual(error.status, 401)
            self.assertEqual(error.headers, {"WWW-Authenticate": 'Basic realm="Ganeti Remote API"'})
            self.assertIsNone(error.message)

    def test_forbidden(self) -> None:
        """A user who lacks every option the operation lists: 403."""
        for user, password, asked in [("mel", "pw", STARTUP), ("guest", "guest", QUERY), ("guest", "guest", STARTUP)]:
            error = self.refused(self.access, basic(user, password), asked)
            self.assertEqual((error.status, error.headers), (403, {}))
        self.assertEqual(str(error), "guest may not PUT instances_name_startup")

    def test_open(self) -> None:
        """Where no option is listed nobody is asked, and users without options may come too."""
        self.assertEqual(self.admitted(self.access, None, INFO), ANONYMOUS)
        self.assertEqual(self.admitted(self.access, basic("guest", "guest"), INFO), Caller("guest"))

    def test_always_verified(self) -> None:
        """Credentials that are sent are verified even where none are needed."""
        self.assertEqual(self.refused(self.access, basic("jack", "wrong"), INFO).status, 401)

    def test_require_authentication(self) -> None:
        """With it nobody comes in without credentials; users without options still read what is open."""
        access = MemoryGate({"users": USERS}, require_authentication=True)
        self.assertEqual(self.refused(access, None, INFO).status, 401)
        self.admitted(access, basic("guest", "guest"), INFO)

    def test_no_file(self) -> None:
        """Without a users file there are no users."""
        self.assertEqual(self.refused(MemoryGate({}), basic("jack", "secret")).status, 401)


class ChangingFileTests(GateCase):
    """The files are read again when they change."""

    def setUp(self) -> None:
        """Somebody who is in."""
        self.access = MemoryGate({"users": USERS})
        self.admitted(self.access, basic("jack", "secret"))
        self.admitted(self.access, basic("bea", "bpw"))
        self.logged: list[str] = []

        @provider(ILogObserver)
        def observer(event: LogEvent) -> None:
            self.logged.append(event.get("error", "") or str(formatEvent(event)))

        globalLogPublisher.addObserver(observer)
        self.addCleanup(globalLogPublisher.removeObserver, observer)

    def test_changed_password(self) -> None:
        """A new password counts at once, and the old one is refused at once, remembered or not."""
        self.access.write("users", f"jack other write\nbea {bcrypt_of('new')} write\n")
        self.assertEqual(self.refused(self.access, basic("jack", "secret")).status, 401)
        self.assertEqual(self.refused(self.access, basic("bea", "bpw")).status, 401)
        self.admitted(self.access, basic("jack", "other"))

    def test_changed_rights(self) -> None:
        """Options that are taken away are gone at once for who is remembered too."""
        self.access.write("users", USERS.replace("secret write", "secret"))
        self.assertEqual(self.refused(self.access, basic("jack", "secret")).status, 403)

    def test_parse_error(self) -> None:
        """A file with an error in it changes nothing, and the log names the line and no password."""
        self.access.write("users", "jack other write\nbroken-hidden\n")
        self.admitted(self.access, basic("jack", "secret"))
        self.assertIn("line 2: the password is missing; a line is USER PASSWORD [OPTION[,OPTION...]]", self.logged)

    def test_unknown_scheme(self) -> None:
        """A password that is kept in a way that nobody knows is told in the log, but not shown."""
        self.access.write("users", "jack {SHA512}hidden write\nbea bpw write\n")
        self.admitted(self.access, basic("bea", "bpw"))
        (line,) = self.logged
        self.assertIn("the password of jack is kept in a way that nobody knows", line)
        self.assertNotIn("hidden", line)

    def test_too_large(self) -> None:
        """A file too large to be one changes nothing."""
        self.access.write("users", "# " + "x" * 2_000_000)
        self.admitted(self.access, basic("jack", "secret"))

    def test_nobody_tells(self) -> None:
        """Another file in its place counts although nobody has told of it yet: who asks after a change is judged by it."""
        self.access.files.listeners.clear()
        self.access.write("users", USERS.replace("secret write", "secret"))
        self.assertEqual(self.refused(self.access, basic("jack", "secret")).status, 403)
        secret = new_secret(SeededEntropy().random_bytes)
        self.access.write("tokens", f"ci {hash_of(secret)} never write\n")
        self.admitted(self.access, f"Bearer {secret}")
        self.access.files.remove(self.access.paths.rapi_tokens_file)
        self.assertEqual(self.refused(self.access, f"Bearer {secret}").status, 401)
        self.assertEqual(self.logged, [])

    def test_missing(self) -> None:
        """When the file goes, so do the users; when it comes again, they are back."""
        self.access.files.remove(self.access.paths.rapi_users_file)
        self.assertEqual(self.refused(self.access, basic("jack", "secret")).status, 401)
        self.access.write("users", USERS)
        self.admitted(self.access, basic("jack", "secret"))


class SlowPasswordTests(GateCase):
    """bcrypt is slow on purpose."""

    def setUp(self) -> None:
        """Threads that wait."""
        self.threads = HeldThreads()
        self.access = MemoryGate({"users": USERS}, threads=self.threads)

    def test_in_thread(self) -> None:
        """It is checked in a thread, and what was right is remembered for a while."""
        first = self.access.request(basic("bea", "bpw"))
        self.assertNoResult(first)
        self.threads.go()
        self.successResultOf(first)
        self.admitted(self.access, basic("bea", "bpw"))
        self.access.clock.advance(301)
        self.assertNoResult(self.access.request(basic("bea", "bpw")))

    def test_unknown_user(self) -> None:
        """An unknown user takes as long."""
        unknown = self.access.request(basic("nobody", "pw"))
        self.assertNoResult(unknown)
        self.threads.go()
        self.failureResultOf(unknown, HttpError)

    def test_fast_user(self) -> None:
        """So does a wrong password of a user whose own is quick to check; the right one does not."""
        wrong = self.access.request(basic("jack", "wrong"))
        self.assertNoResult(wrong)
        self.threads.go()
        self.failureResultOf(wrong, HttpError)
        self.admitted(self.access, basic("jack", "secret"))

    def test_bounded(self) -> None:
        """Two are checked at once and some wait; more are told to come again, which is no failure of theirs."""
        waiting = [self.access.request(basic("bea", f"{number}"), peer=f"192.0.2.{number}") for number in range(34)]
        self.assertEqual(len(self.threads.calls), 2)
        for _ in range(ADDRESS_FAILURES + 1):
            error = self.refused(self.access, basic("bea", "bpw"), STARTUP, "198.51.100.1")
        self.assertEqual((error.status, error.headers), (503, {"Retry-After": "2"}))
        while self.threads.calls:
            self.threads.go()
        for each in waiting:
            self.failureResultOf(each, HttpError)

    def test_many_at_once(self) -> None:
        """A program that opens many connections with the right password at once pays for it once, and gets in."""
        requests = [self.access.request(basic("bea", "bpw")) for _ in range(500)]
        self.assertEqual(len(self.threads.calls), 1)
        self.threads.go()
        for each in requests:
            self.successResultOf(each)

    def test_many_guesses_at_once(self) -> None:
        """With a wrong one each connection has failed."""
        requests = [self.access.request(basic("bea", "wrong")) for _ in range(3 * ADDRESS_FAILURES)]
        for _ in range(ADDRESS_FAILURES):
            self.threads.go()
        found = [self.failureResultOf(each, HttpError).value.status for each in requests]
        self.assertEqual([found.count(401), found.count(429)], [ADDRESS_FAILURES, 2 * ADDRESS_FAILURES])

    def test_gone_meanwhile(self) -> None:
        """Who hangs up while he waits for his turn holds nobody up."""
        first, second, third = (self.access.request(basic("bea", "bpw")) for _ in range(3))
        second.cancel()
        self.failureResultOf(second, CancelledError)
        self.threads.go()
        self.successResultOf(first)
        self.successResultOf(third)

    def test_removed_meanwhile(self) -> None:
        """Who is no user any more when his password has been checked, or his turn comes, is refused as anybody else."""
        first, second = (self.access.request(basic("bea", "bpw")) for _ in range(2))
        self.access.write("users", "jack secret\n")
        self.threads.go()
        for each in (first, second):
            self.assertEqual(self.failureResultOf(each, HttpError).value.status, 401)

    def test_changed_meanwhile(self) -> None:
        """Whose rights or password have changed when it has been checked, is let in as he is now, or not."""
        for line, status in ((f"bea {bcrypt_of('bpw')} read", 401), (USERS.replace("write", "read"), 403)):
            access = MemoryGate({"users": USERS}, threads=self.threads)
            request = access.request(basic("bea", "bpw"))
            access.write("users", line)
            self.threads.go()
            self.assertEqual(self.failureResultOf(request, HttpError).value.status, status)

    def test_cancelled(self) -> None:
        """Who hangs up while it is checked keeps its place in the threads until it has ended, and has failed."""
        for _ in range(ADDRESS_FAILURES):
            request = self.access.request(basic("bea", "bpw"))
            request.cancel()
            self.failureResultOf(request, CancelledError)
        self.assertEqual(len(self.threads.calls), 2)
        self.assertEqual(self.refused(self.access, basic("bea", "bpw")).status, 429)


class ThrottledTests(GateCase):
    """Failures are counted."""

    def test_throttled(self) -> None:
        """After many failures even the right password must wait, except where it was right a moment ago."""
        access = MemoryGate({"users": USERS})
        self.admitted(access, basic("jack", "secret"))
        for _ in range(ADDRESS_FAILURES):
            self.assertEqual(self.refused(access, basic("mel", "wrong"), QUERY).status, 401)
        error = self.refused(access, basic("mel", "pw"), QUERY)
        self.assertEqual(error.status, 429)
        self.admitted(access, basic("jack", "secret"))
        self.admitted(access, basic("mel", "pw"), QUERY, peer="192.0.2.2")
        access.clock.advance(int(error.headers["Retry-After"]))
        self.admitted(access, basic("mel", "pw"), QUERY)

    def test_bearer(self) -> None:
        """What is no token by its form alone is counted as a guess."""
        access = MemoryGate({})
        for _ in range(ADDRESS_FAILURES):
            self.assertEqual(self.refused(access, "Bearer gnt_x").status, 401)
        self.assertEqual(self.refused(access, "Bearer gnt_x").status, 429)

    def test_old_token(self) -> None:
        """A program that goes on with a token that has ended keeps nobody else of its address out."""
        old = new_secret(lambda size: b"o" * size)
        access = MemoryGate({"users": USERS, "tokens": f"old {hash_of(old)} 2020-01-01T00:00:00Z write\n"})
        for _ in range(ADDRESS_FAILURES + 1):
            self.assertEqual(self.refused(access, f"Bearer {old}").status, 401)
        self.admitted(access, basic("jack", "secret"))


class RoleTests(GateCase):
    """Roles and permissions at the gate."""

    FILES = {
        "users": "ann pw @ops\nroot pw @admin\nlist pw instances:GET\nweb pw write,tag=web\n",
        "roles": "ops instances_name_startup:PUT\n",
    }

    def test_roles(self) -> None:
        """A role gives what the roles file says, from the moment it says so."""
        access = MemoryGate(self.FILES)
        self.admitted(access, basic("ann", "pw"), STARTUP)
        self.assertEqual(self.refused(access, basic("ann", "pw"), CREATE).status, 403)
        access.write("roles", "ops instances:POST\n")
        self.admitted(access, basic("ann", "pw"), CREATE)
        self.assertEqual(self.refused(access, basic("ann", "pw"), STARTUP).status, 403)
        self.admitted(access, basic("root", "pw"), STARTUP)

    def test_undefined(self) -> None:
        """Who has a role that is not defined may do nothing: it may be the one that keeps him to some instances."""
        access = MemoryGate({"users": "bob pw write,@kept\nroot pw @admin\n", "roles": "kept tag=web\n"})
        self.assertEqual(self.admitted(access, basic("bob", "pw")).scopes, {Scope("tag", "web")})
        access.write("roles", "")
        for asked in (STARTUP, INSTANCES):
            error = self.refused(access, basic("bob", "pw"), asked)
            self.assertEqual((error.status, "not defined" in str(error.message)), (403, True))
        self.admitted(access, basic("root", "pw"))
        at_start = MemoryGate({"users": "bob pw write,@kept\n", "roles": "kept tag=web\nops reed:DO\n"})
        self.assertEqual(self.refused(at_start, basic("bob", "pw")).status, 403)

    def test_lists(self) -> None:
        """Where nobody is anonymous, who has a list of permissions may do what it says and no more."""
        access = MemoryGate(self.FILES)
        self.admitted(access, basic("list", "pw"), INFO)
        closed = MemoryGate(self.FILES, require_authentication=True)
        self.assertEqual(self.refused(closed, basic("list", "pw"), INFO).status, 403)
        self.admitted(closed, basic("list", "pw"), INSTANCES)

    def test_scopes(self) -> None:
        """The caller carries the scopes that he is kept to."""
        caller = self.admitted(MemoryGate(self.FILES), basic("web", "pw"))
        self.assertEqual(caller, Caller("web", frozenset({Scope("tag", "web")})))


class TokenTests(GateCase):
    """API tokens."""

    def setUp(self) -> None:
        """One for ever, one until 2026-01-02."""
        lines = f"ci {hash_of('gnt_one')} never write\nold {hash_of('gnt_two')} 2026-01-02T00:00:00Z @admin,tag=web\n"
        self.access = MemoryGate({"tokens": lines, "users": "ci pw read\n"})

    def test_bearer(self) -> None:
        """A token lets in by itself, with the rights it was given."""
        self.assertEqual(self.admitted(self.access, "Bearer gnt_one"), Caller("token:ci"))
        self.assertEqual(self.admitted(self.access, "bearer gnt_two").scopes, {Scope("tag", "web")})
        self.assertEqual(self.refused(self.access, "Bearer gnt_three").status, 401)
        self.assertEqual(self.refused(self.access, "Bearer " + hash_of("gnt_one")).status, 401)

    def test_basic(self) -> None:
        """Clients that know passwords only show it as one, with its name; a user of that name keeps his password."""
        self.assertEqual(self.admitted(self.access, basic("ci", "gnt_one")), Caller("token:ci"))
        self.assertEqual(self.admitted(self.access, basic("ci", "pw"), QUERY), Caller("ci"))
        self.assertEqual(self.refused(self.access, basic("old", "gnt_one")).status, 401)

    def test_expiry(self) -> None:
        """From its expiry on a token is nobody's."""
        self.access.clock.advance(24 * 3600 - 1)
        self.admitted(self.access, "Bearer gnt_two")
        self.access.clock.advance(1)
        self.assertEqual(self.refused(self.access, "Bearer gnt_two").status, 401)
        self.admitted(self.access, "Bearer gnt_one")

    def test_revoked(self) -> None:
        """A token that leaves the file is nobody's at once."""
        self.access.write("tokens", "")
        self.assertEqual(self.refused(self.access, "Bearer gnt_one").status, 401)
