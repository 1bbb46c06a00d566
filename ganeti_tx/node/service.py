"""The node daemon put together."""

import os
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import CancelledError, Deferred, maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.node_files import FILES, UPLOADED
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION, RELEASE_VERSION
from ganeti_tx.node.allocators import Allocators
from ganeti_tx.node.backup_transfers import BackupTransfers
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.checks import NodeChecks
from ganeti_tx.node.cluster_files import ClusterFiles
from ganeti_tx.node.cluster_keys import ClusterKeys
from ganeti_tx.node.cluster_membership import AdmittedCallers, Membership
from ganeti_tx.node.copies_state import CopiesOfTheCluster
from ganeti_tx.node.disks import Disks
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.ended_machines import EndedMachines
from ganeti_tx.node.exports import Exports
from ganeti_tx.node.facts import Facts
from ganeti_tx.node.grown_disks import GrownDisks
from ganeti_tx.node.guests import Guests
from ganeti_tx.node.hooks import Hooks
from ganeti_tx.node.http import NodeSite
from ganeti_tx.node.hypervisor.interfaces import IDiskHolder
from ganeti_tx.node.hypervisor.nics.confined import confine_those_there
from ganeti_tx.node.hypervisor.nics.left_rules import remove_left_rules
from ganeti_tx.node.hypervisor.registry import load_hypervisors
from ganeti_tx.node.images import Images
from ganeti_tx.node.instances import Instances
from ganeti_tx.node.job_copies import JobCopies
from ganeti_tx.node.live_changes import LiveChanges
from ganeti_tx.node.local_daemons import LocalDaemons, MachineProcesses
from ganeti_tx.node.local_hooks import LocalHooks
from ganeti_tx.node.master_guard import MasterGuard
from ganeti_tx.node.master_ip import MasterIp
from ganeti_tx.node.master_role import MasterRoleCalls, forget_spared_vote
from ganeti_tx.node.metadata.daemon import MetadataDaemon, OwnMetadataDaemon
from ganeti_tx.node.metadata.telling import Metadata
from ganeti_tx.node.migrations import Migrations
from ganeti_tx.node.mirrors import Mirrors
from ganeti_tx.node.neighbours import Announcements, say_nothing
from ganeti_tx.node.open_vswitch import OwnSwitch
from ganeti_tx.node.os.calls import OsCalls
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.node.os.scripts import OsScripts
from ganeti_tx.node.other_machines import OtherMachines
from ganeti_tx.node.out_of_band import OutOfBand
from ganeti_tx.node.path_checks import PathChecks, Users
from ganeti_tx.node.powercycle import Powercycle
from ganeti_tx.node.providers import ProviderCalls
from ganeti_tx.node.restricted_commands import Hold, RestrictedCommands
from ganeti_tx.node.ssh_checks import SshChecks
from ganeti_tx.node.ssh_files import SshFiles
from ganeti_tx.node.ssh_renewal import SshRenewal
from ganeti_tx.node.storage.ext.provider import Providers
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.node.storage.holders import DiskHolders
from ganeti_tx.node.storage.kinds import NodeStorage
from ganeti_tx.node.storage.links import DiskLinks
from ganeti_tx.node.storage.registry import load_storage
from ganeti_tx.node.storage.tree import DeviceTree
from ganeti_tx.node.storage_units import StorageUnits
from ganeti_tx.node.terms import Terms
from ganeti_tx.node.tls import NodeTls
from ganeti_tx.node.transfer.interfaces import ITransferEnds
from ganeti_tx.node.transfer.processes import TransferProcesses
from ganeti_tx.node.transfer_keys import TransferKeys
from ganeti_tx.node.transfers import Transfers
from ganeti_tx.node.watcher_pause import WatcherPauseCalls
from ganeti_tx.node.wiping import Wiping
from ganeti_tx.rpc.calls.master import NodeStopMaster
from ganeti_tx.runtime.addresses import is_own_address
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.limited_channel import MAX_UNAUTHENTICATED
from ganeti_tx.runtime.livelock import FlockLiveness
from ganeti_tx.runtime.livelock_holders import job_processes
from ganeti_tx.runtime.machine_reset import MachineReset, NoReset, reset_of
from ganeti_tx.runtime.membership import not_in_cluster
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.own_address import OwnAddress
from ganeti_tx.runtime.ownership import users_at
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.runtime.ping import is_reached
from ganeti_tx.runtime.process import IProcessRunner
from ganeti_tx.runtime.program_records import ProgramRecords
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.script_log import OpenLog, open_log
from ganeti_tx.runtime.threads import IThreads, reactor_threads
from ganeti_tx.runtime.watcher_pause import PauseFile

log = Logger()

#: Connections that may wait to be taken in; with fewer, a crowd of unauthenticated peers makes callers wait for seconds.
BACKLOG = 1024
#: A file below /etc/ganeti by which a node says that it may do without bridges.
USER_MODE_MARKER = "user-mode-network"
#: All files that a master may send one by one, with their modes.
UPLOADS = {file.path: file.mode for file in FILES if file.sent in UPLOADED}


def no_users() -> None:
    """`Users` of a node whose files are all one user's."""


@define
class NodeParts:
    """What a node daemon works with; the composition root fills it with real things or with simulated ones."""

    name: str
    paths: Paths
    files: IFiles
    threads: IThreads
    runner: IProcessRunner
    clock: IReactorTime
    reactor: IDaemonReactor
    now: Callable[[], float]
    owns_address: Callable[[str], bool]
    #: Whether a host answers at an address, within some seconds.
    reaches: Callable[[str], Awaitable[bool]]
    leave: Callable[[], None]
    processes: MachineProcesses = field(factory=MachineProcesses)
    open_log: OpenLog = open_log
    hold: Hold = hold
    machine: MachineReset = field(factory=NoReset)
    #: Tells the neighbours that an interface has an IPv6 address.
    announce: Callable[[str, str], None] = say_nothing
    #: Of the protocol and of the programs.
    versions: tuple[int, str] = (NODE_PROTOCOL_VERSION, RELEASE_VERSION)
    #: Whose the node's files may be, beside root's.
    users: Users = no_users
    #: The one of this machine, unless another is given.
    metadata: MetadataDaemon | None = None
    #: The hypervisors that have disks open; known when they are made.
    holders: DiskHolders = field(factory=DiskHolders)


def real_parts(reactor: IDaemonReactor) -> NodeParts:
    """A node daemon's parts on this machine."""
    paths = Paths.from_environment(os.environ)
    threads = reactor_threads(reactor)
    return NodeParts(
        name=own_name(),
        paths=paths,
        files=RealFiles(threads),
        threads=threads,
        runner=ReactorProcessRunner(reactor, reactor, ProgramRecords(paths.programs_dir)),
        clock=reactor,
        reactor=reactor,
        now=time.time,
        owns_address=is_own_address,
        reaches=lambda address: threads.run(is_reached, address),
        leave=reactor.stop,
        machine=reset_of(paths.root),
        users=lambda: users_at(paths),
        announce=Announcements(reactor),
        processes=MachineProcesses(holder, lambda: job_processes(paths.livelock_dir, FlockLiveness())),
    )


class CallAnswerers:
    """What answers the calls of a node, area by area; what several of them use is made once."""

    def __init__(self, parts: NodeParts, storage: NodeStorage, ends: ITransferEnds, callers: AdmittedCallers) -> None:
        self.parts, self.storage, self.ends = parts, storage, ends
        files, paths = parts.files, parts.paths
        self.hypervisors = load_hypervisors(parts)
        parts.holders.known = [each for each in self.hypervisors.values() if IDiskHolder.providedBy(each)]
        self.tree, self.links = DeviceTree(storage), DiskLinks(files, paths)
        self.blocks = Disks(self.tree, self.links)
        self.terms = Terms(files, paths)
        self.queue = JobCopies(files, paths, self.terms)
        self.cluster_files = ClusterFiles(files, paths, UPLOADS, parts.name, self.terms, self.queue, callers.told)
        self.daemons = LocalDaemons(files, paths, parts.runner, parts.clock, parts.processes)
        self.role = MasterRoleCalls(files, paths, parts.threads, self.daemons)
        self.hooks = Hooks(files, paths, parts.runner, parts.clock)
        self.user_mode = paths.conf_dir / USER_MODE_MARKER
        self.catalogue = OsCatalogue(files, paths.os_search_path)
        daemon = parts.metadata or OwnMetadataDaemon(paths, parts.reactor, self.daemons)
        self.metadata = Metadata(files, paths, self.hypervisors, self.catalogue, daemon)

    def every(self) -> list[object]:
        """Those of all areas."""
        return [*self.of_cluster(), *self.of_disks(), *self.of_instances(), *self.of_machine()]

    def of_cluster(self) -> list[object]:
        """The node as a member: files, keys, queue, who is the master."""
        parts = self.parts
        files, paths = parts.files, parts.paths
        local_hooks = LocalHooks(files, paths, self.hooks, parts.name)
        return [
            self.cluster_files,
            SshFiles(files, paths, parts.runner, parts.name, self.terms),
            self.queue,
            CopiesOfTheCluster(files, paths),
            Membership(
                files, paths, self.cluster_files, self.daemons, parts.leave, list(self.storage.storages.values())
            ),
            ClusterKeys(files, paths, parts.now),
            SshRenewal(files, paths, parts.runner, parts.name),
            self.role,
            MasterIp(files, paths, parts.runner, local_hooks, parts.announce),
            self.hooks,
            Allocators(files, paths, parts.runner),
            WatcherPauseCalls(PauseFile(files, paths, parts.now)),
        ]

    def of_disks(self) -> list[object]:
        """Disks, their data, and where they are kept."""
        parts = self.parts
        return [
            self.blocks,
            Mirrors(self.tree, self.links),
            ProviderCalls(Providers(parts.files, parts.paths.extstorage_search_path), parts.threads),
            Transfers(self.tree, self.ends, parts.paths),
            StorageUnits(self.storage.pools),
            Wiping(self.tree, parts.runner),
            Images(self.tree, parts.files, parts.runner),
        ]

    def of_instances(self) -> list[object]:
        """Instances, what is installed on them, and their exports."""
        parts = self.parts
        files, paths = parts.files, parts.paths
        instances = Instances(self.hypervisors, self.blocks, parts.name, self.metadata)
        scripts = OsScripts(self.catalogue, paths, parts.runner, parts.threads, parts.now, parts.open_log)
        exports = Exports(files, paths, parts.threads)
        keys = TransferKeys(files, paths, parts.threads, parts.name, parts.now)
        return [
            instances,
            self.metadata,
            LiveChanges(instances),
            GrownDisks(self.hypervisors),
            Guests(self.hypervisors, parts.clock),
            Migrations(instances, keys),
            OsCalls(scripts, self.blocks, parts.threads),
            exports,
            BackupTransfers(self.blocks, scripts, exports, self.ends, paths),
            keys,
        ]

    def of_machine(self) -> list[object]:
        """The machine: what it has, what is wrong with it, its power, the administrator's programs."""
        parts = self.parts
        files, paths = parts.files, parts.paths
        return [
            Facts(
                files,
                parts.clock,
                self.hypervisors,
                self.storage.pools,
                parts.owns_address,
                self.user_mode,
                parts.versions[0],
            ),
            self.checks(),
            Powercycle(parts.clock, parts.machine),
            OutOfBand(files, parts.runner),
            OwnSwitch(parts.runner),
            RestrictedCommands(files, paths, parts.runner, parts.clock, parts.hold, {0, os.geteuid()}),
        ]

    def checks(self) -> NodeChecks:
        """What `gnt-cluster verify` asks for."""
        parts = self.parts
        return NodeChecks(
            parts.files,
            parts.paths,
            parts.now,
            parts.reaches,
            self.storage,
            self.hypervisors,
            self.user_mode,
            AllowedPaths(parts.files, parts.paths),
            SshChecks(parts.files, parts.paths, parts.runner),
            parts.versions,
            PathChecks(parts.files, parts.users),
            self.metadata.check,
        )

    def guard(self) -> MasterGuard:
        """What refuses calls of one who is not the master."""
        parts = self.parts
        return MasterGuard(parts.files, parts.paths, parts.name, self.terms, lambda: self.role.stop(NodeStopMaster()))


def build_dispatch(
    parts: NodeParts,
    storage: NodeStorage | None = None,
    ends: ITransferEnds | None = None,
    callers: AdmittedCallers | None = None,
) -> NodeDispatch:
    """Every call of a node. @param storage: where its disks live, and `ends` of transfers; this machine's own if not given.

    @param callers: who may make calls, which is told of changes.
    """
    return build_node(parts, storage, ends, callers).dispatch


def build_node(
    parts: NodeParts,
    storage: NodeStorage | None = None,
    ends: ITransferEnds | None = None,
    callers: AdmittedCallers | None = None,
) -> "BuiltNode":
    """The same, and what a node does by itself."""
    made = CallAnswerers(
        parts,
        storage or load_storage(parts),
        ends or TransferProcesses(parts.files, parts.paths, parts.runner, parts.clock),
        callers or AdmittedCallers(parts.files, parts.paths),
    )
    order = CallOrder(made.terms)
    others = OtherMachines(made.hypervisors, parts.name)
    dispatch = NodeDispatch(*made.every(), guard=made.guard().perform, order=order.perform, check=others.refuse)
    return BuiltNode(dispatch, EndedMachines(made.hypervisors, order, made.metadata), made.metadata)


@frozen
class BuiltNode:
    """What answers the calls of a node, and what is to be set going when it is there."""

    dispatch: NodeDispatch
    machines: EndedMachines
    metadata: Metadata


async def start(
    parts: NodeParts, port: int, address: str | None, most_unauthenticated: int = MAX_UNAUTHENTICATED
) -> Callable[[], Awaitable[None]]:
    """Listen for node calls on the node's own address. @raise NotInClusterError: the node has no keys.

    @param most_unauthenticated: so many connections there may be that have made no call yet.
    """
    paths = parts.paths
    for path in (paths.server_pem, paths.authority_pem):
        if not parts.files.exists(path):
            raise not_in_cluster(path)
    await ProgramRecords(paths.programs_dir).end_all(partial(deferLater, parts.clock))
    forget_spared_vote(parts.files, paths)
    await remove_left_rules(parts.runner)
    await confine_those_there(parts.runner)
    tls: Any = NodeTls(parts.files, paths)  # makes connections, where Twisted's types name contexts only
    if address is None:
        address = await OwnAddress(parts.files, paths, parts.threads, parts.clock).primary(parts.name)
    callers = AdmittedCallers(parts.files, paths)
    node = build_node(parts, callers=callers)
    site = NodeSite(node.dispatch, callers.admitted, parts.reactor, most_unauthenticated)
    listening = parts.reactor.listenSSL(port, site, tls, backlog=BACKLOG, interface=address)
    node.machines.watch()
    resuming = Deferred.fromCoroutine(node.metadata.resume())
    resuming.addErrback(_tell_failure)
    log.info("node calls for {name} on {where}", name=parts.name, where=host_port(address, port))

    async def stop() -> None:
        resuming.cancel()
        await maybeDeferred(listening.stopListening)

    return stop


def _tell_failure(failure: Failure) -> None:
    if failure.check(CancelledError) is None:
        log.failure("the metadata daemon was not started", failure)
