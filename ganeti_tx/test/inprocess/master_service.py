"""The unit "ganeti-master" of a simulated machine, and gnt-cluster master-failover on it."""

from collections.abc import Callable
from typing import Any

from attrs import define
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ganeti_tx.election.failover import Failover
from ganeti_tx.election.jobs_left import JobsLeft
from ganeti_tx.node.local_daemons import MachineProcesses
from ganeti_tx.runtime.daemon_control import SYSTEMD
from ganeti_tx.runtime.daemon_names import MASTER, MASTER_PARTS, RAPI
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.disk import ProcessFiles
from ganeti_tx.test.inprocess.master import MasterDaemons
from ganeti_tx.test.inprocess.simulation import Process

LUXID, WCONFD, REMOTE_API = 1001, 1002, 1003


@define(eq=False)
class MasterService:
    """What `systemctl` and signals do to the master daemons of one machine."""

    daemons: MasterDaemons
    #: Whether the Remote API, of which no more is simulated, has been started.
    with_rapi: bool = False

    def install(self) -> None:
        """Have the node daemon of the machine use it."""
        node = self.daemons.node
        node.disk.mkdir(SYSTEMD)
        node.processes = MachineProcesses(self.holder, self.jobs, self.send_signal)
        node.services = self.systemctl

    def holder(self, path: object) -> int | None:
        """The process that holds a pid file."""
        paths = self.daemons.paths
        if path in (paths.pid_file(MASTER), paths.pid_file(MASTER_PARTS[0])) and self.daemons.luxid_process.alive:
            return LUXID
        if path == paths.pid_file(RAPI) and self.with_rapi:
            return REMOTE_API
        return WCONFD if path == paths.pid_file(MASTER_PARTS[1]) and self.daemons.wconfd_process.alive else None

    def jobs(self) -> list[int]:
        """The processes of jobs."""
        return sorted(self.daemons.zygote.runners)

    def send_signal(self, process_id: int, number: int) -> None:
        """Every signal is deadly."""
        if process_id == LUXID:
            self.daemons.kill_luxid()
        elif process_id == WCONFD:
            self.daemons.kill_wconfd()
        elif process_id == REMOTE_API:
            self.with_rapi = False
        else:
            self.daemons.zygote.kill(process_id)

    def systemctl(self, caller: Process, call: Call) -> "Deferred[ProcessResult]":
        """Start or stop them; the caller hears of it if it lives so long. Other daemons are not simulated."""
        heard: Deferred[ProcessResult] = Deferred()
        verb = call.argv[1]
        if RAPI in call.argv and verb != "show":
            self.with_rapi = verb == "start"
        if MASTER not in call.argv or verb == "show":
            caller.callLater(0, heard.callback, ProcessResult())
            return heard
        if verb == "stop":
            self.stop()
            caller.callLater(0, heard.callback, ProcessResult())
            return heard

        def tell(result: object) -> None:
            if isinstance(result, Failure):
                self.stop()
                text = result.getErrorMessage().encode()
                caller.callLater(0, heard.callback, ProcessResult(status=1, stderr=text))
            else:
                caller.callLater(0, heard.callback, ProcessResult())

        self.start().addBoth(tell)
        return heard

    def stop(self) -> None:
        """Stop everything and leave it so."""
        self.daemons.wanted = False
        self.daemons.kill_luxid()
        self.daemons.kill_wconfd()
        self.daemons.end_jobs()
        socket = self.daemons.paths.query_socket
        if self.daemons.node.disk.content(socket) is not None:
            self.daemons.node.disk.remove(socket)

    def start(self) -> "Deferred[None]":
        """Start everything. @raise GanetiError: it does not come up."""
        starting = self.daemons.start_wconfd_later()
        starting.addCallback(lambda _: self.daemons.start_luxid_later())
        return starting


def failover(daemons: MasterDaemons, say: Callable[[str], None]) -> "Deferred[None]":
    """`gnt-cluster master-failover` on the node. @raise GanetiError: it cannot become the master."""
    process = daemons.new_process("failover")
    daemons.commands.append(process)
    files = ProcessFiles(daemons.node.disk, process)
    steps = Failover(
        files=files,
        paths=daemons.paths,
        own_name=daemons.node.name,
        clock=process,
        now=daemons.node.now,
        rpc=daemons.rpc(process),
        jobs=JobsLeft(files, daemons.paths, daemons.liveness),
        is_up=lambda: daemons.luxid_process.alive,
        say=say,
    )

    def ended(result: Any) -> Any:
        process.die()
        return result

    return Deferred.fromCoroutine(steps.run(True)).addBoth(ended)
