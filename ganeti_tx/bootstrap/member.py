"""How a node becomes one of a cluster's, as the master tells it: it checks, writes, starts; and how it takes that back."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from ganeti_tx.bootstrap import former
from ganeti_tx.bootstrap.init import forget, take_back
from ganeti_tx.bootstrap.join_documents import JoinDocument, read_join, read_leave
from ganeti_tx.bootstrap.keys import SHARED_AT_JOIN, NodeKeys, prepare_directories, write_node_keys, write_private
from ganeti_tx.bootstrap.network_checks import check_secondary
from ganeti_tx.bootstrap.ports import check_ports
from ganeti_tx.bootstrap.problems import BootstrapError, Problems, check_address, check_writable
from ganeti_tx.bootstrap.remote_call import BEGUN
from ganeti_tx.bootstrap.start import is_running, start, start_outward, stop_all
from ganeti_tx.errors import LockError
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.model.node_files import SSCONF
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.cluster_authority import have_in_common
from ganeti_tx.runtime.daemon_names import ALL, NODE, ON_ALL_NODES
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.own_address import ADDRESSES_KEY
from ganeti_tx.runtime.paths import Paths

LOCK_NAME = "join.lock"
LOCK_MODE = 0o600
#: Seconds that one step waits for the end of another, whose master may have gone, and between looks.
WAIT_LIMIT = 90.0
INTERVAL = 0.2


def receive(paths: Paths, data: bytes) -> None:
    """Become a member. @raise BootstrapError: every problem; this node is as it was then."""
    document = read_join(data)
    problems = Problems()
    check_membership(paths, document, problems)
    for file in SHARED_AT_JOIN:
        problems.unless(file.path in document.shared, f"the master did not send {file.path}; is it of another version?")
    check_writable(problems, paths.data_dir)
    check_writable(problems, paths.run_dir)
    problems.stop_if_any()
    with turn(paths):
        print(BEGUN, flush=True)
        ended: Sequence[str] = ()
        if document.force_join or same_cluster(paths, document.authority):
            ended = [daemon for daemon in ALL if is_running(paths, daemon)]
            for left in stop_all(paths):  # it may have been a master, of this cluster or of another
                problems.add(left)
        try:
            check_network(paths, document, problems)
        except BootstrapError as error:
            raise BootstrapError(*error.args, *start_again(paths, ended)) from None
        become_member(paths, document)
        print(f"node {document.node_name} is ready", flush=True)


@contextmanager
def turn(paths: Paths) -> Iterator[None]:
    """One step at a time: one whose connection broke goes on. @raise BootstrapError: it does not end."""
    path = paths.run_dir / LOCK_NAME
    deadline = time.monotonic() + WAIT_LIMIT
    while True:
        try:
            held = hold(path, LOCK_MODE)
            break
        except LockError:
            if time.monotonic() > deadline:
                raise BootstrapError(f"another set-up of this node does not end within {WAIT_LIMIT:.0f} s") from None
            time.sleep(INTERVAL)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # who waits makes one of its own
        held.release()


def check_network(paths: Paths, document: JoinDocument, problems: Problems) -> None:
    """Its addresses are its own, and nobody has its daemons' ports. @raise BootstrapError: every problem."""
    check_address(problems, f"node {document.node_name}", document.primary_ip)
    check_ports(problems, paths, document.primary_ip, ON_ALL_NODES)
    if document.secondary_ip is not None or not document.readd:  # a node that is known keeps the one that it has
        check_secondary(problems, f"node {document.node_name}", document.secondary_ip, family_of(document.primary_ip))
    problems.stop_if_any()


def same_cluster(paths: Paths, authority: bytes) -> bool:
    """Whether this node has this cluster's authority already, as a member or from an attempt that was not finished."""
    return paths.authority_pem.exists() and have_in_common(paths.authority_pem.read_bytes(), authority)


def check_membership(paths: Paths, document: JoinDocument, problems: Problems) -> None:
    """A node is in one cluster at most."""
    if document.force_join or same_cluster(paths, document.authority) or not paths.server_pem.exists():
        return
    problems.add(f"is part of a cluster already ({paths.server_pem}); give --force-join if that one is gone")


def become_member(paths: Paths, document: JoinDocument) -> None:
    """Write the files and start the daemons; a failure takes it back."""
    server = Identity.from_bundle(document.server, "server.pem")
    client = Identity.from_bundle(document.client, "client.pem")
    ours = same_cluster(paths, document.authority)
    try:
        former.drop(paths)
        if document.readd and ours and paths.server_pem.exists():
            former.keep(paths)
        if not ours:
            forget(paths)  # what another cluster has left would count as newer than all that this one sends
        prepare_directories(paths)
        for key, text in with_own_address(document).items():
            write_private(paths.ssconf_file(key), text.encode(), SSCONF.mode)
        keys = NodeKeys(authority=document.authority, server=server, client=client, shared=document.shared)
        write_node_keys(paths, keys)
        start_member(paths)
    except OSError as error:
        undo(paths, why := f"cannot write {reason(error)}")
        raise BootstrapError(why) from None
    except BaseException as error:  # an interrupt, too, leaves nothing behind
        undo(paths, str(error))
        raise


def with_own_address(document: JoinDocument) -> dict[str, str]:
    """The simple configuration that the master sent, and this node's address, where its daemons are to listen: the cluster
    does not list it yet, or lists the one that it had.
    """
    listed = document.ssconf.get(ADDRESSES_KEY, "").splitlines()
    others = [line for line in listed if line.split()[:1] != [document.node_name]]
    lines = [*others, f"{document.node_name} {document.primary_ip}"]
    return {**document.ssconf, ADDRESSES_KEY: "".join(f"{line}\n" for line in lines)}


def start_member(paths: Paths) -> None:
    """Start what every node runs."""
    start(paths, NODE)
    start_outward(paths, ON_ALL_NODES)


def start_again(paths: Paths, ended: Sequence[str]) -> list[str]:
    """Have daemons up again as before; why those are not that do not start."""
    problems = Problems()
    for daemon in ended:
        problems.attempt(partial(start, paths, daemon))
    return problems.found


def leave(paths: Paths, data: bytes) -> None:
    """Take back what `receive` did: the master has not taken this node in.

    @raise BootstrapError: this node is another cluster's, or daemons do not end.
    """
    document = read_leave(data)
    if not paths.run_dir.exists():
        return
    with turn(paths):
        print(BEGUN, flush=True)
        if not paths.authority_pem.exists():
            print(f"node {document.node_name}: nothing was left to be taken back", flush=True)
            return
        if not same_cluster(paths, document.authority):
            raise BootstrapError(f"has another cluster's {paths.authority_pem}; it was left as it is")
        print(f"node {document.node_name}: {undo(paths)}", flush=True)


def undo(paths: Paths, *why: str) -> str:
    """Stop what was started and remove what was written; what was there before comes back. What was done, in words.

    @param why: what made this necessary. @raise BootstrapError: some daemons do not end, or come up; it says why, and which.
    """
    if not former.is_kept(paths):
        take_back(paths, *why)
        return "its keys were removed and its daemons stopped"
    left = stop_all(paths)
    former.put_back(paths)
    try:
        start_member(paths)
    except BootstrapError as error:
        left.append(str(error))
    if left:
        raise BootstrapError(*why, *left)
    return "it is a member with its former keys, as it was before"
