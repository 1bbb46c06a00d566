"""The steps that nodes of the other cluster do, each asked for over ssh by one JSON document."""

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from attrs import frozen

from ganeti_tx import __version__
from ganeti_tx.bootstrap.member import turn
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.remote_call import RemoteCall
from ganeti_tx.bootstrap.remote_program import remote_words
from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.merge import halted, instances
from ganeti_tx.merge.documents import Admission, Empty, Halting, Looked, Named, Pause, Told
from ganeti_tx.merge.letting_in import let_in
from ganeti_tx.model.base import Wire
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.upgrade.jobs import Jobs
from ganeti_tx.upgrade.remote import ended

PROGRAM = "ganeti-merge-step"
MAX_KNOWN_HOSTS = 8 * 1024 * 1024
#: Seconds for one of the other nodes, of which so many are asked at a time.
NODE_LIMIT = 60.0
AT_A_TIME = 8


def tell(paths: Paths, asked: Empty) -> Told:
    """On the master: what the other cluster is. @raise GanetiError: this is not its master."""
    check_master(paths)
    record = halted.read_record(paths)
    with paths.config_file.open("rb") as file:
        config = file.read(MAX_CONFIG_BYTES)
    hosts = paths.known_hosts.read_text(errors="replace")[:MAX_KNOWN_HOSTS] if paths.known_hosts.exists() else ""
    drained, pause_end = (record.before.was_drained, None) if record is not None else state(paths)
    return Told(
        version=__version__,
        config=config,
        known_hosts=hosts,
        was_drained=drained,
        pause_end=pause_end,
        halted=record is not None,
        stopped=() if record is None else record.before.stopped,
    )


def state(paths: Paths) -> tuple[bool, float | None]:
    """Whether the queue takes no jobs, and until when the watcher is paused. @raise GanetiError: the master daemon is down."""
    with client(paths) as asking:
        drained, end = asking.query_config_values(["drain_flag", "watcher_pause"])
    return bool(drained), end


def check_master(paths: Paths) -> None:
    """@raise BootstrapError: this node is none"""
    master = SsconfReader(RealFiles(InlineThreads()), paths).master_node()
    if master != own_name():
        raise BootstrapError(f"{own_name()} is not the master of its cluster, which is {master or 'not known'}")


def look(paths: Paths, asked: Empty) -> Looked:
    """On every node: it can be reached, and which version is there."""
    record = halted.read_record(paths)
    strayed = record is not None and not halted.is_member(paths, record)
    return Looked(version=__version__, name=own_name(), strayed=strayed)


def admit(paths: Paths, asked: Admission) -> Empty:
    """On every node: let in who merges."""
    let_in(paths, asked.key)
    return Empty()


def spread(paths: Paths, asked: Admission) -> Empty:
    """On the master: have all other nodes let in who merges. @raise BootstrapError: every one that does not."""
    check_master(paths)
    ssconf = SsconfReader(RealFiles(InlineThreads()), paths)
    others = [node.name for node in ssconf.nodes() if not node.offline and node.name != own_name()]
    document = msgspec.json.encode(asked)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        failed = [why for why in pool.map(lambda node: admitted_by(paths, node, document), others) if why]
    if failed:
        raise BootstrapError(*failed)
    return Empty()


def admitted_by(paths: Paths, node: str, document: bytes) -> str:
    """Why a node does not let it in; empty when it does."""
    argv = [*RemoteCall(paths, node).shell(), node, *remote_words(PROGRAM, "admit")]
    try:
        done = ended(argv, NODE_LIMIT, text=document.decode())
    except GanetiError as error:
        return f"node {node}: {error}"
    last = (done.stderr or done.stdout).strip().splitlines()[-1:] or [f"status {done.returncode}"]
    return "" if done.returncode == 0 else f"node {node}: {last[0]}"


def expel(paths: Paths, asked: Empty) -> Empty:
    """On every node: who merges is not let in any more."""
    let_in(paths, None)
    return Empty()


def settle(paths: Paths, asked: Empty) -> Empty:
    """On every node: it is the other cluster's for good."""
    halted.drop_record(paths)
    return Empty()


def pause(paths: Paths, asked: Pause) -> Empty:
    """On the master: all watchers leave the cluster alone until then."""
    with client(paths) as asking:
        asking.set_watcher_pause(asked.end)
    return Empty()


def in_service(paths: Paths, asked: Empty) -> Named:
    """On the master: which run, or shall."""
    with client(paths) as asking:
        return Named(names=tuple(instances.in_service(asking)))


def stop_instances(paths: Paths, asked: Named) -> Empty:
    """On the master."""
    instances.stop(paths, asked.names)
    return Empty()


def start_instances(paths: Paths, asked: Named) -> Empty:
    """On the master."""
    instances.start(asked.names)
    return Empty()


def drain(paths: Paths, asked: Empty) -> Empty:
    """On the master: no more jobs, and those that are there come to their end."""
    Jobs(paths, say).drain()
    return Empty()


def undrain(paths: Paths, asked: Empty) -> Empty:
    """On the master."""
    Jobs(paths, say).open()
    return Empty()


def halt(paths: Paths, asked: Halting) -> Empty:
    """On every node, the master first: stop its daemons."""
    with turn(paths):
        halted.halt(paths, asked)
    return Empty()


def put_back(paths: Paths, asked: Empty) -> Empty:
    """On a master that has strayed: be the other cluster's again, without its daemons."""
    with turn(paths):
        halted.come_back(paths)
    return Empty()


def restore(paths: Paths, asked: Empty) -> Empty:
    """On every node, the master last: have it be as before `halt`."""
    with turn(paths):
        halted.restore(paths)
    return Empty()


def client(paths: Paths) -> Client:
    """This node's master daemon."""
    return Client(str(paths.query_socket))


def say(line: str) -> None:
    """To the operator, if the step fails or he wants to know more."""
    print(line, file=sys.stderr, flush=True)


@frozen
class Step:
    """What does it, and what it takes and gives."""

    work: Callable[[Paths, Any], Wire]
    takes: type[Wire]
    gives: type[Wire]


STEPS: Mapping[str, Step] = {
    "tell": Step(tell, Empty, Told),
    "look": Step(look, Empty, Looked),
    "admit": Step(admit, Admission, Empty),
    "spread": Step(spread, Admission, Empty),
    "expel": Step(expel, Empty, Empty),
    "settle": Step(settle, Empty, Empty),
    "pause": Step(pause, Pause, Empty),
    "in-service": Step(in_service, Empty, Named),
    "stop-instances": Step(stop_instances, Named, Empty),
    "start-instances": Step(start_instances, Named, Empty),
    "drain": Step(drain, Empty, Empty),
    "undrain": Step(undrain, Empty, Empty),
    "halt": Step(halt, Halting, Empty),
    "put-back": Step(put_back, Empty, Empty),
    "restore": Step(restore, Empty, Empty),
}
