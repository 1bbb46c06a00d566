"""Bringing the configuration to the master candidates and simple configuration to all nodes, off everybody's path."""

from collections.abc import Callable

import attrs
from twisted.internet.defer import CancelledError, Deferred, DeferredSemaphore
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.metrics.config import BEHIND, DISTRIBUTION_FAILURES
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_certificates import server_key
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.rapi_files import RapiFiles
from ganeti_tx.wconfd.node_copies import NodeCopies, State
from ganeti_tx.wconfd.transfer import Transfer

#: So many nodes are served at a time.
AT_A_TIME = 16
#: Seconds for which anybody waits for a node that does not answer.
TIMEOUT = 5.0
#: Seconds until a node that failed is tried again, doubled each time up to the second number.
FIRST_RETRY = 5.0
LAST_RETRY = 30.0


@attrs.define(eq=False)
class Distributor:
    """One transfer a node at a time; a node that is busy goes on with whatever is newest then."""

    _rpc: INodeRpc
    _clock: IReactorTime
    _files: IFiles
    _paths: Paths
    _own_name: str
    _tally: Tally = attrs.field(factory=Tally, kw_only=True)
    _rapi_files: Callable[[], RapiFiles | None] = attrs.field(default=lambda: None, kw_only=True)
    _log: Logger = attrs.field(factory=Logger, init=False)
    _newest: State | None = attrs.field(default=None, init=False)
    _copies: dict[str, NodeCopies] = attrs.field(factory=dict, init=False)
    _waiting: list[tuple[int, Deferred[None]]] = attrs.field(factory=list, init=False)
    _slots: DeferredSemaphore = attrs.field(factory=lambda: DeferredSemaphore(AT_A_TIME), init=False)
    _stopped: bool = attrs.field(default=False, init=False)
    _round: int = attrs.field(default=0, init=False)
    _most_down: bool = attrs.field(default=False, init=False)
    _why: str = attrs.field(default="", init=False)
    _transfer: Transfer = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._transfer = Transfer(self._rpc, self._files, self._paths, self._own_name)

    def distribute(self, config: ConfigData, data: bytes) -> None:
        """This is the newest configuration, and its text; bring it to where it belongs."""
        if self._stopped:
            return
        before, self._newest = self._newest, State.of(config, data, self._rapi_files())
        for uuid in self._copies.keys() - config.nodes.keys():
            self._copies.pop(uuid).stop_timer()
        for uuid, node in config.nodes.items():
            copies = self._copies_of(node, before)
            if node.offline:
                copies.forget()
            else:
                self._send(uuid, copies)
        self._tell_waiting()

    def _copies_of(self, node: Node, before: State | None) -> NodeCopies:
        """What is known of a node. At the start others than candidates are taken to have their keys: they joined with them."""
        copies = self._copies.get(node.uuid)
        if copies is None:
            copies = self._copies[node.uuid] = NodeCopies(
                has_keys=before is None and not node.master_candidate, round=self._round
            )
        elif before is not None and node.uuid in before.config.nodes:
            copies.has_keys &= before.config.nodes[node.uuid].master_candidate or not node.master_candidate
            configs = (before.config, self._present().config)
            had, has = (config.cluster.candidate_certs.get(server_key(node.uuid)) for config in configs)
            if had != has:
                copies.distrust()  # it was set up anew, perhaps with nothing of what it had
        return copies

    def redistribute(self) -> None:
        """Bring everything to every node once more, whatever it is known to have."""
        self._round += 1
        for copies in self._copies.values():
            copies.overdue = False
        if self._newest is not None:
            self.distribute(self._newest.config, self._newest.data)

    async def when_distributed(self) -> None:
        """Waits until every node that is not offline has the present state or a newer one, or could not be reached.

        A node that takes longer than TIMEOUT is behind as well, and not waited for again until it answers.
        """
        if self._newest is None or self._is_out(self._newest.serial):
            return
        serial, done = self._newest.serial, Deferred[None]()
        limit = self._clock.callLater(TIMEOUT, self._give_up, serial)
        self._waiting.append((serial, done))
        try:
            await done
        finally:
            if limit.active():
                limit.cancel()

    def _give_up(self, serial: int) -> None:
        """Nobody waits any longer for those that lack this version."""
        for uuid, copies in self._copies.items():
            node = self._present().config.nodes.get(uuid)
            if node is not None and not copies.overdue and not self._is_served(node, copies, serial):
                self._log.info("node {node} does not take the configuration within {limit:.0f} s; nobody waits for it",
                    node=node.name, limit=TIMEOUT)  # fmt: skip
                copies.overdue = True
        self._tell_waiting()

    async def candidates_without(self, limit: float) -> list[tuple[str, str]]:
        """The master candidates that do not have the present state after so many seconds at most, and why."""
        if self._newest is None:
            return []
        wanted = self._newest.serial
        waiting = Deferred.fromCoroutine(self.when_distributed())
        waiting.addTimeout(limit, self._clock, onTimeoutCancel=lambda *_: None)
        await waiting
        return [
            (node.name, self._copies[uuid].why or f"no answer within {limit:.0f} s")
            for uuid, node in self._present().config.nodes.items()
            if node.master_candidate and node.name != self._own_name and self._copies[uuid].has_config < wanted
        ]

    def unserved(self) -> list[tuple[str, str]]:
        """The nodes that lack something of the newest configuration because it could not be brought to them, and why.

        This node is among them for each file that all shall have, and that cannot be sent.
        """
        nodes = {} if self._newest is None else self._present().config.nodes
        known = [(node, self._copies[uuid]) for uuid, node in nodes.items() if not node.offline]
        late = f"no answer within {TIMEOUT:.0f} s"
        behind = sorted((node.name, copies.why or late) for node, copies in known if copies.failures or copies.overdue)
        return [*behind, *((self._own_name, fault) for fault in self._transfer.faults)]

    def describe(self) -> None:
        """Record which nodes lack something of the newest configuration; offline ones, which are not served, are left out."""
        self._tally.forget(BEHIND)
        nodes = {} if self._newest is None else self._present().config.nodes
        for uuid, node in nodes.items():
            if not node.offline:
                self._tally.set(BEHIND, self._lacks_something(self._copies[uuid]), node.name)

    def _lacks_something(self, copies: NodeCopies) -> bool:
        return copies.failures > 0 or copies.overdue or copies.tried < self._present().serial

    def stop(self) -> None:
        """Break off what is under way."""
        self._stopped = True
        for copies in self._copies.values():
            copies.stop_timer()
            if copies.work is not None:
                copies.work.cancel()

    def _send(self, uuid: str, copies: NodeCopies) -> None:
        copies.stop_timer()
        if copies.work is None:
            work = copies.work = Deferred.fromCoroutine(self._serve(uuid, copies))
            work.addErrback(self._broken_off, uuid)
            work.addBoth(lambda _: self._idle(copies))

    def _idle(self, copies: NodeCopies) -> None:
        copies.work = None

    def _broken_off(self, failure: Failure, uuid: str) -> None:
        if not failure.check(CancelledError):
            self._log.failure("distribution to node {uuid} failed", failure=failure, uuid=uuid)

    async def _serve(self, uuid: str, copies: NodeCopies) -> None:
        """Bring the newest state to a node until it has it, or fails."""
        while (node := self._unserved(uuid, copies)) is not None:
            await self._slots.acquire()
            try:
                state, asked = self._present(), self._round
                if copies.round != asked:
                    copies.distrust()
                await self._transfer.bring(node, copies, state)
            except (RpcError, OSError) as error:
                self._failed(node, uuid, copies, error)
                break
            else:
                self._succeeded(node, copies)
            finally:
                copies.tried, copies.round = state.serial, asked
                self._slots.release()
                self._tell_waiting()

    def _unserved(self, uuid: str, copies: NodeCopies) -> Node | None:
        """The node as it is configured now, if there is something to bring to it."""
        state = self._present()
        node = state.config.nodes.get(uuid)
        if node is None or node.offline or self._stopped:
            return None
        if copies.tried >= state.serial and copies.round == self._round:
            return None
        return node

    def _succeeded(self, node: Node, copies: NodeCopies) -> None:
        copies.overdue = False
        if copies.failures:
            copies.failures = 0
            copies.why = ""
            self._log.info("node {node} has the configuration again", node=node.name)
            self._tell_when_most_fail()

    def _failed(self, node: Node, uuid: str, copies: NodeCopies, error: RpcError | OSError) -> None:
        delay = min(FIRST_RETRY * 2**copies.failures, LAST_RETRY)
        copies.failures = min(copies.failures + 1, 16)
        copies.has_ssconf = copies.has_rapi_files = copies.has_ssh = None  # it may have been cut off in the middle
        copies.has_keys = False
        self._why = copies.why = str(error)
        self._tally.count(DISTRIBUTION_FAILURES, node.name)
        if copies.failures == 1:
            self._log.info("node {node} does not get the configuration: {error}", node=node.name, error=str(error))
            self._tell_when_most_fail()
        copies.retry = self._clock.callLater(delay, self._try_again, uuid, copies)

    def _tell_when_most_fail(self) -> None:
        """Say once that most candidates fail, and once that they do not any more (design-2.0, job replication)."""
        config = self._present().config
        others = [node for node in config.nodes.values() if node.master_candidate and node.name != self._own_name]
        failing = [node.name for node in others if self._copies[node.uuid].failures]
        most = len(failing) * 2 > len(others)
        if most and not self._most_down:
            self._log.error(
                "{failing} of {all} master candidates do not get the configuration ({names}): {why}",
                failing=len(failing),
                all=len(others),
                names=", ".join(failing[:5]),
                why=self._why,
            )
        elif self._most_down and not most:
            self._log.info("most master candidates get the configuration again")
        self._most_down = most

    def _try_again(self, uuid: str, copies: NodeCopies) -> None:
        copies.retry = None
        copies.tried = 0
        self._send(uuid, copies)

    def _present(self) -> State:
        assert self._newest is not None
        return self._newest

    def _is_out(self, serial: int) -> bool:
        nodes = self._present().config.nodes
        return all(
            copies.overdue or self._is_served(nodes[uuid], copies, serial)
            for uuid, copies in self._copies.items()
            if uuid in nodes
        )

    def _is_served(self, node: Node, copies: NodeCopies, serial: int) -> bool:
        """Whether a node has this version, is not to have it, or could not be given it and is tried again later."""
        if node.offline or copies.retry is not None:
            return True
        return copies.tried >= serial and copies.round == self._round

    def _tell_waiting(self) -> None:
        ready = [(serial, done) for serial, done in self._waiting if self._is_out(serial)]
        self._waiting = [each for each in self._waiting if each not in ready]
        for _, done in ready:
            if not done.called:
                done.callback(None)
