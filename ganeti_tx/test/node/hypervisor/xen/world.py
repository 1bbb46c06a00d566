"""Nodes under Xen that are only played: what xl, socat and kill do there, on domains in memory.

Their texts are those of xl 4.17 as it wrote them on a machine (captures in `recorded.py`).
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IDelayedCall
from twisted.internet.task import Clock
from zope.interface import implementer

from ganeti_tx.runtime.process import (
    CLEAN_ENV,
    DEFAULT_OUTPUT_LIMIT,
    DEFAULT_TIMEOUT,
    NOT_FOUND,
    IProcessRunner,
    ProcessResult,
)
from ganeti_tx.test.fakes.files import MemoryFiles

TOTAL, DOM0 = 1535, 768
_SETTING = re.compile(r"^(\w+) = (?:'([^']*)'|\"([^\"]*)\"|(\d+))$", re.M)
_PLACE = re.compile(r"OPENSSL(?:-LISTEN)?:(?:.*:)?(\d+),")


class PassingClock(Clock):
    """Whoever waits has waited already; `passed` is told each time."""

    def __init__(self, passed: Callable[[], None]) -> None:
        super().__init__()
        self._passed = passed

    def callLater(self, delay: float, callable: Callable[..., object], *args: object, **kw: object) -> IDelayedCall:
        """See `IReactorTime`."""
        call = super().callLater(delay, callable, *args, **kw)
        self._passed()
        self.advance(delay)
        return call


@define
class PlayedDomain:
    """A domain: `letters` are those of the state, `settings` of its configuration; a guest that is deaf hears nothing."""

    id: int
    name: str
    settings: Mapping[str, str]
    memory: int
    letters: str = "-b----"
    reason: str = "-"

    def line(self) -> str:
        """Of the long list."""
        vcpus = self.settings["vcpus"]
        uuid = self.settings["uuid"]
        head = f"{self.name:<40} {self.id:5} {self.memory:5} {vcpus:>5} {self.letters:>10} {1.5:9.1f}"
        return f"{head} {uuid} {self.reason:>8}                -"


@define
class Sending:
    """A domain under way, step by step."""

    source: "XenNode"
    domain: PlayedDomain
    pid: int
    relay_pid: int
    port: int
    log: Path
    step: int = 0
    coming: PlayedDomain | None = None


@define
class World:
    """All nodes, and what is under way between them.

    @ivar stuck_at: a migration does not get beyond this step.
    """

    clock: PassingClock = field(init=False)
    sendings: list[Sending] = field(factory=list)
    listening: "dict[int, XenNode]" = field(factory=dict)
    stuck_at: int = 99

    def __attrs_post_init__(self) -> None:
        self.clock = PassingClock(self.tick)

    def tick(self) -> None:
        """What is under way goes on by a step."""
        for sending in list(self.sendings):
            if sending.step < self.stuck_at:
                sending.step += 1
                self._go_on(sending)

    def _go_on(self, sending: Sending) -> None:
        target, domain = self.listening.get(sending.port), sending.domain
        if target is None:
            self.give_up(sending, "socat[1] E connect(): Connection refused")
        elif sending.step == 1:
            sending.coming = target.add(domain.settings, f"{domain.name}--incoming", "--p---", domain.memory)
        elif sending.step == 2:
            domain.letters, domain.reason, domain.name = "---s--", "2", f"{domain.name}--migratedaway"
        elif sending.step == 3:
            assert sending.coming is not None
            sending.coming.name, sending.coming.letters = domain.settings["name"], "-b----"
            target.end_listener(sending.port)
            sending.source.domains.remove(domain)
            sending.source.say(
                sending.log, "migration sender: Target reports successful startup.\nMigration successful.\n"
            )
            self._over(sending)

    def give_up(self, sending: Sending, why: str) -> None:
        """xl lets the domain go on; what has come of it is destroyed."""
        sending.domain.letters, sending.domain.reason = "-b----", "-"
        sending.domain.name = sending.domain.settings["name"]
        target = self.listening.get(sending.port)
        if target is not None and sending.coming is not None:
            target.domains.remove(sending.coming)
            target.end_listener(sending.port)
        sending.source.say(sending.log, f"{why}\nMigration failed, resuming at sender.\n")
        self._over(sending)

    def _over(self, sending: Sending) -> None:
        sending.source.forget(sending.pid, sending.relay_pid)
        self.sendings.remove(sending)


@implementer(IProcessRunner)
@define(eq=False)
class XenNode:
    """One node: runs what its driver asks for.

    @ivar routes: by the address that each leads to, the interfaces.
    @ivar deaf: guests hear neither a shutdown nor a reboot.
    @ivar stubborn: guests keep the memory that they have.
    @ivar abilities: of its Xen.
    @ivar is_slow: what shall wait for a domain does not get so far that it says so, or writes down who it is.
    @ivar before_destroy: the same of one that is ended at once.
    @ivar next_pid: of the next process that is detached.
    @ivar before_create: what happens just before a domain is made.
    @ivar create_fails: what xl says of a domain that it cannot make.
    """

    world: World
    files: MemoryFiles
    domains: list[PlayedDomain] = field(factory=list)
    calls: list[list[str]] = field(factory=list)
    bridges: Sequence[str] = ("br0",)
    routes: dict[str, Sequence[str]] = field(factory=dict)
    deaf: bool = False
    stubborn: bool = False
    abilities: str = "pv hvm hap shadow gnttab-v1 gnttab-v2"
    is_slow: bool = False
    before_create: Callable[[], object] = lambda: None
    create_fails: bytes = b""
    before_destroy: Callable[[], object] = lambda: None
    next_pid: int = 4001
    _last_id: int = 0
    _last_relay: int = 9000
    _pids: dict[int, Path] = field(factory=dict)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] = CLEAN_ENV,
        cwd: Path | None = None,
        stdin: bytes = b"",
        timeout: float = DEFAULT_TIMEOUT,
        output_limit: int = DEFAULT_OUTPUT_LIMIT,
        child_fds: Mapping[int, int] | None = None,
    ) -> Deferred[ProcessResult]:
        """See `IProcessRunner`."""
        self.calls.append(list(argv))
        known = {"xl": self._xl, "kill": self._kill, "ip": self._ip}
        if argv[0] not in known:
            return succeed(ProcessResult(status=NOT_FOUND))
        return succeed(known[argv[0]](list(argv[1:])))

    def run_detached(
        self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] = CLEAN_ENV, cwd: Path | None = None
    ) -> int:
        """See `IProcessRunner`."""
        self.calls.append(list(argv))
        if argv[0] == "socat":
            return self._listen(argv, log)
        assert list(argv[:4]) == ["xl", "migrate", "-s", ""], argv
        relay = shlex.split(argv[5])
        assert relay[:2] == ["exec", "socat"], relay
        pid, relay_pid = self._start(argv), self._start_relay(relay)
        self.put(lock_of(relay), str(relay_pid))
        self._pids[relay_pid] = lock_of(relay)
        self.say(log, "migration target: Ready to receive domain.\n")
        domain = self.domain(argv[4])
        assert domain is not None
        self.world.sendings.append(Sending(self, domain, pid, relay_pid, port_of(relay[-1]), log))
        return pid

    def _listen(self, argv: Sequence[str], log: Path) -> int:
        assert argv[-1] == "EXEC:xl migrate-receive", argv
        pid, port = self._start(argv), port_of(argv[-2])
        if port in self.world.listening:
            self.say(log, "2026/11/27 10:00:00 socat[1] E bind(5, ...): Address already in use\n")
            self.forget(pid)
            return pid
        self._pids[pid] = lock_of(argv)
        self.world.listening[port] = self
        if self.is_slow:
            return pid
        self.put(lock_of(argv), str(pid))
        self.say(log, "2026/11/27 10:00:00 socat[1] N listening on AF=2 127.0.0.1:8002\n")
        return pid

    def end_listener(self, port: int) -> None:
        """It has carried all, or nobody is there any more."""
        del self.world.listening[port]
        self.forget(*[pid for pid, lock in self._pids.items() if self._is_listener(pid, port)])

    def _is_listener(self, pid: int, port: int) -> bool:
        return f"OPENSSL-LISTEN:{port}".encode() in self.files.read(Path(f"/proc/{pid}/cmdline"), 1 << 16)

    def _start(self, argv: Sequence[str]) -> int:
        pid, self.next_pid = self.next_pid, self.next_pid + 1
        self.put(Path(f"/proc/{pid}/cmdline"), "\0".join(argv))
        return pid

    def _start_relay(self, argv: Sequence[str]) -> int:
        """By xl."""
        self._last_relay += 1
        self.put(Path(f"/proc/{self._last_relay}/cmdline"), "\0".join(argv))
        return self._last_relay

    def forget(self, *pids: int) -> None:
        """Processes have ended."""
        for pid in pids:
            self.files.remove_tree(Path(f"/proc/{pid}"))
            if (lock := self._pids.pop(pid, None)) is not None and self.files.exists(lock):
                self.files.remove(lock)

    def put(self, path: Path, text: str) -> None:
        """A file of the node's own."""
        self.files.mkdir(path.parent)
        self.files._put(path, text.encode(), 0o600)

    def say(self, log: Path, text: str) -> None:
        """A program writes into its log, which somebody may have removed meanwhile."""
        if self.files.exists(log.parent):
            before = self.files.read(log, 1 << 20).decode() if self.files.exists(log) else ""
            self.put(log, before + text)

    def domain(self, number: str) -> PlayedDomain | None:
        """By its number."""
        return next((each for each in self.domains if str(each.id) == number), None)

    def add(self, settings: Mapping[str, str], name: str, letters: str, memory: int) -> PlayedDomain:
        """A domain more."""
        self._last_id += 1
        domain = PlayedDomain(self._last_id, name, settings, memory, letters)
        self.domains.append(domain)
        return domain

    def _kill(self, words: list[str]) -> ProcessResult:
        pid = int(words[-1])
        sending = next((each for each in self.world.sendings if each.source is self and each.relay_pid == pid), None)
        if sending is not None:
            self.world.give_up(sending, "xc: error: Failed to write page data to stream (32 = Broken pipe)")
            return ProcessResult()
        port = next(
            port for port, node in self.world.listening.items() if node is self and self._is_listener(pid, port)
        )
        coming = next((each for each in self.world.sendings if each.port == port), None)
        if coming is not None:
            self.world.give_up(coming, "xc: error: Failed to write page data to stream (32 = Broken pipe)")
        else:
            self.end_listener(port)
        return ProcessResult()

    def _ip(self, words: list[str]) -> ProcessResult:
        if words[1] == "route":
            devices = self.routes.get(words[-1].removesuffix("/32"), ())
            return ProcessResult(stdout=msgspec.json.encode([{"dst": words[-1], "dev": name} for name in devices]))
        return ProcessResult(stdout=b"5: br0: mtu 1500") if words[4] in self.bridges else ProcessResult(status=1)

    def _xl(self, words: list[str]) -> ProcessResult:
        acts = {"list": self._list, "info": self._info, "create": self._create}
        if words[0] in acts:
            return acts[words[0]](words[1:])
        number = words[2] if words[1] == "-F" else words[1]
        if words[0] == "destroy":
            self.before_destroy()
        domain = self.domain(number)
        if domain is None:
            return ProcessResult(status=1, stderr=f"{number} is an invalid domain identifier (rc=-6)\n".encode())
        if words[0] == "destroy":
            self.domains.remove(domain)
        elif words[0] == "unpause":
            domain.letters = "-b----"
        elif words[0] == "mem-set" and not self.stubborn:
            domain.memory = int(words[2].removesuffix("m"))
        elif words[0] in ("shutdown", "reboot") and not self.deaf:
            self.power_off(domain, "on_poweroff" if words[0] == "shutdown" else "on_reboot")
        return ProcessResult()

    def power_off(self, domain: PlayedDomain, action: str = "on_poweroff") -> None:
        """Its guest ends it, which is followed by what its configuration says."""
        what = domain.settings[action]
        if what == "preserve":
            domain.letters, domain.reason = "---s--", "0" if action == "on_poweroff" else "1"
            return
        self.domains.remove(domain)
        if what == "restart":
            self.add(domain.settings, domain.name, "-b----", domain.memory)

    def _list(self, words: list[str]) -> ProcessResult:
        assert words == ["-v"], words
        heading = "Name                                        ID   Mem VCPUs\tState\tTime(s)   UUID"
        heading += "                            Reason-Code\tSecurity Label"
        first = PlayedDomain(
            0, "Domain-0", {"vcpus": "1", "uuid": "00000000-0000-0000-0000-000000000000"}, DOM0, "r-----"
        )
        lines = [heading, *(each.line() for each in (first, *self.domains))]
        return ProcessResult(stdout="".join(f"{each}\n" for each in lines).encode())

    def _info(self, words: list[str]) -> ProcessResult:
        free = TOTAL - DOM0 - 19 - sum(each.memory for each in self.domains)
        told = {"nr_cpus": 4, "nr_nodes": 1, "cores_per_socket": 2, "threads_per_core": 1, "xen_version": "4.17.7"}
        told |= {"total_memory": TOTAL, "free_memory": free, "virt_caps": self.abilities}
        return ProcessResult(stdout="".join(f"{name:<23}: {value}\n" for name, value in told.items()).encode())

    def _create(self, words: list[str]) -> ProcessResult:
        self.before_create()
        path = Path(words[-1])
        if self.create_fails:
            return ProcessResult(status=3, stdout=f"Parsing config from {path}\n".encode(), stderr=self.create_fails)
        text = self.files.read(path, 1 << 20).decode()
        settings = {found[1]: found[2] or found[3] or found[4] or "" for found in _SETTING.finditer(text)}
        if any(each.name == settings["name"] for each in self.domains):
            said = (
                f'libxl: error: libxl_domain.c:81:libxl__domain_rename: Domain 2:Domain with name "{settings["name"]}"'
            )
            said += " already exists.\nlibxl: error: libxl_create.c:1296:initiate_domain_create: Domain 2:cannot make domain: -6\n"
            return ProcessResult(status=3, stdout=f"Parsing config from {path}\n".encode(), stderr=said.encode())
        self.add(settings, settings["name"], "--p---" if "-p" in words else "-b----", int(settings["memory"]))
        return ProcessResult(stdout=f"Parsing config from {path}\n".encode())


def lock_of(argv: Sequence[str]) -> Path:
    """Where socat writes its process id."""
    return next(Path(word[2:]) for word in argv if word.startswith("-L"))


def port_of(place: str) -> int:
    """Of an address of socat."""
    found = _PLACE.match(place)
    assert found is not None, place
    return int(found[1])


def node(world: World) -> XenNode:
    """A node more."""
    return XenNode(world, MemoryFiles())
