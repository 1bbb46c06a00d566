"""`gnt-cluster master-failover` on this machine: its real parts, in a reactor that runs for as long as it takes."""

import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.start import socket_answers
from ganeti_tx.election.failover import Failover
from ganeti_tx.election.jobs_left import JobsLeft
from ganeti_tx.errors import LockError
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.livelock import FlockLiveness
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady
from ganeti_tx.runtime.threads import reactor_threads

LOCK_NAME = "master-failover.lock"
LOCK_MODE = 0o600


class FailoverRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the command line says. Offline nodes are never asked, so there is nothing to ignore."""

    no_voting: bool = False
    ignore_offline_nodes: bool = True


def read_request(data: bytes) -> FailoverRequest:
    """@raise BootstrapError: not such a document."""
    try:
        return msgspec.json.decode(data, type=FailoverRequest)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise BootstrapError(f"cannot read the request: {error}")


def failover(paths: Paths, data: bytes) -> None:
    """Make this node the master. @raise GanetiError: why not."""
    request = read_request(data)
    if not paths.client_pem.exists():
        raise BootstrapError(f"this node is part of no cluster: no {paths.client_pem}")

    try:
        lock = hold(paths.run_dir / LOCK_NAME, LOCK_MODE)
    except LockError:
        raise BootstrapError("'gnt-cluster master-failover' runs on this node already; wait for its end") from None
    try:
        in_reactor(lambda reactor: take_over(reactor, paths, request))
    finally:
        lock.release()


async def take_over(reactor: IDaemonReactor, paths: Paths, request: FailoverRequest) -> None:
    """The steps with this machine's parts. @raise GanetiError: as above."""
    files = RealFiles(reactor_threads(reactor))
    steps = Failover(
        files=files,
        paths=paths,
        own_name=own_name(),
        clock=reactor,
        now=time.time,
        rpc=node_rpc(reactor, files, paths),
        jobs=JobsLeft(files, paths, FlockLiveness()),
        is_up=socket_answers(paths.query_socket),
        say=lambda line: print(line, file=sys.stderr, flush=True),
    )
    await steps.run(vote=not request.no_voting)


def in_reactor(work: Callable[[IDaemonReactor], Awaitable[None]]) -> None:
    """Run the reactor until the work has ended. @raise KeyboardInterrupt: it was ended from outside."""
    from twisted.internet import reactor as installed

    reactor = steady(installed)
    outcomes: list[Any] = []

    async def working() -> None:
        await work(reactor)

    def begin() -> None:
        Deferred.fromCoroutine(working()).addBoth(outcomes.append).addBoth(lambda _: reactor.stop())

    reactor.callWhenRunning(begin)
    reactor.run()
    if not outcomes:
        raise KeyboardInterrupt
    if isinstance(outcomes[0], Failure):
        outcomes[0].raiseException()
