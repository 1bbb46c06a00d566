"""Daemons of this node that should run and do not. Where systemd rules, its units say which should."""

import http.client
import os
import signal
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from attrs import frozen

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.start import is_running, run, running, socket_answers, start, stop
from ganeti_tx.model.own_ports import RAPI_PORT
from ganeti_tx.runtime.daemon_control import ASK_LIMIT, DaemonControl, is_wanted_and_down
from ganeti_tx.runtime.daemon_names import MASTER, MASTER_PARTS, METADATA, NODE, ON_ALL_NODES, RAPI
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.runtime.told_guests import told_guests
from ganeti_tx.watcher.node import WatchedNode

#: Seconds within which the Remote API must answer.
RAPI_LIMIT = 30.0
#: Seconds until a process that was killed must be gone, and between looks.
KILL_LIMIT = 5.0
INTERVAL = 0.05


def end(paths: Paths, daemon: str) -> None:
    """End one, by force when it does not listen."""
    try:
        stop(paths, daemon)
    except BootstrapError:
        process = running(paths, daemon)
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        deadline = time.monotonic() + KILL_LIMIT
        while is_running(paths, daemon) and time.monotonic() < deadline:
            time.sleep(INTERVAL)


def unit_is_down(daemon: str) -> bool:
    """Whether a unit is enabled and does not run. @raise BootstrapError: systemd does not tell."""
    return is_wanted_and_down(run(DaemonControl(by_systemd=True).unit_argv(daemon), ASK_LIMIT).stdout)


@frozen
class LocalDaemons:
    """How they are seen, started and ended."""

    runs: Callable[[Paths, str], bool] = is_running
    start: Callable[[Paths, str], None] = start
    end: Callable[[Paths, str], None] = end
    by_systemd: Callable[[Paths], bool] = lambda paths: DaemonControl.at(paths.root).by_systemd
    unit_is_down: Callable[[str], bool] = unit_is_down


def wanted(paths: Paths, is_master: bool, runs: Callable[[Paths, str], bool]) -> Iterator[str]:
    """What should run here, in the order of starting. A master of two parts, one of which runs still, stays so."""
    yield NODE
    if is_master:
        apart = not runs(paths, MASTER) and any(runs(paths, part) for part in MASTER_PARTS)
        yield from reversed(MASTER_PARTS) if apart else (MASTER,)
    yield from ON_ALL_NODES
    yield from asked_by_guests(paths)
    if is_master:
        yield RAPI


def asked_by_guests(paths: Paths) -> tuple[str, ...]:
    """The metadata daemon, while instances run here that ask it."""
    return (METADATA,) if told_guests(RealFiles(InlineThreads()), paths) else ()


def start_missing(node: WatchedNode, daemons: LocalDaemons = LocalDaemons()) -> None:
    """Start them, also those that somebody has ended by hand; one that does not come up is no reason to leave the others."""
    if daemons.by_systemd(node.paths):
        start_stopped_units(node, daemons)
        return
    for daemon in list(wanted(node.paths, node.is_master, daemons.runs)):
        if not daemons.runs(node.paths, daemon):
            _start(node, daemons, daemon, "does not run")


def start_stopped_units(node: WatchedNode, daemons: LocalDaemons) -> None:
    """Start what every node has, where the unit is enabled: systemd starts again what died, not what somebody has stopped.

    The master's daemons are left to systemd, which knows whether an administrator or the election has stopped them.
    """
    for daemon in (NODE, *ON_ALL_NODES):
        try:
            is_down = daemons.unit_is_down(daemon)
        except BootstrapError as error:
            node.log.error(str(error))
            continue
        if is_down and not daemons.runs(node.paths, daemon):  # one that was started by hand has its place
            _start(node, daemons, daemon, "does not run")
    for daemon in asked_by_guests(node.paths):  # whose unit is never enabled
        if not daemons.runs(node.paths, daemon):
            _start(node, daemons, daemon, "does not run")


def _start(node: WatchedNode, daemons: LocalDaemons, daemon: str, why: str) -> None:
    node.log.warning(f"{daemon} {why}; starting it")
    try:
        daemons.start(node.paths, daemon)
    except BootstrapError as error:
        node.log.error(str(error))


def restart_silent(
    node: WatchedNode,
    rapi_answers: Callable[[], bool],
    daemons: LocalDaemons = LocalDaemons(),
) -> None:
    """On the master: restart the Remote API when it does not answer, and tell when the configuration daemon does not."""
    if not socket_answers(node.paths.wconfd_socket)():
        node.log.error(f"nobody answers at {node.paths.wconfd_socket}: the configuration cannot be changed")
    if not daemons.runs(node.paths, RAPI) or rapi_answers():
        return
    daemons.end(node.paths, RAPI)
    _start(node, daemons, RAPI, "does not answer")


def rapi_answers(address: str) -> Callable[[], bool]:
    """Whether the Remote API at an address talks. Who signed its certificate is not looked at.

    One that listens elsewhere, or speaks no TLS, was told so; a restart would only hang up on its clients.
    """

    def answers() -> bool:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(address, RAPI_PORT, timeout=RAPI_LIMIT, context=context)
        try:
            connection.request("GET", "/version")
            return connection.getresponse().status < http.HTTPStatus.INTERNAL_SERVER_ERROR
        except (ConnectionRefusedError, ssl.SSLError):
            return True
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return answers
