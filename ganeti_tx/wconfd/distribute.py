"""Bringing the configuration to the master candidates and simple configuration to all nodes, off everybody's path."""

import attrs
from twisted.internet.defer import CancelledError, Deferred, DeferredSemaphore
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.model.config_data import ConfigData, encode
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls import UploadFile, WriteSsconfFiles
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.ssconf_files import write_ssconf

#: So many nodes are served at a time.
AT_A_TIME = 16
#: Seconds until a node that failed is tried again, doubled each time up to the second number.
FIRST_RETRY = 5.0
LAST_RETRY = 300.0


@attrs.frozen
class State:
    """One version of the configuration, in the forms in which it travels."""

    config: ConfigData
    data: bytes
    ssconf: dict[str, str]

    @property
    def serial(self) -> int:
        """The configuration's serial number, which orders the versions."""
        return self.config.serial_no

    @classmethod
    def of(cls, config: ConfigData) -> "State":
        """The forms of a version."""
        return cls(config, encode(config), ssconf_values(config))


@attrs.define(eq=False)
class Courier:
    """What is known of one node: up to which version it was served or tried, and what it has."""

    tried: int = 0
    failures: int = 0
    has_config: int = 0
    has_ssconf: dict[str, str] | None = None
    work: Deferred[None] | None = None
    retry: IDelayedCall | None = None

    def forget(self) -> None:
        """Who knows what the node has when it comes back."""
        self.stop_timer()
        self.tried = self.failures = self.has_config = 0
        self.has_ssconf = None

    def stop_timer(self) -> None:
        """There is no need to try again by the clock."""
        if self.retry is not None and self.retry.active():
            self.retry.cancel()
        self.retry = None


@attrs.define(eq=False)
class Distributor:
    """One transfer a node at a time; a node that is busy goes on with whatever is newest then."""

    _rpc: INodeRpc
    _clock: IReactorTime
    _files: IFiles
    _paths: Paths
    _own_name: str
    _log: Logger = attrs.field(factory=Logger, init=False)
    _newest: State | None = attrs.field(default=None, init=False)
    _couriers: dict[str, Courier] = attrs.field(factory=dict, init=False)
    _waiting: list[tuple[int, Deferred[None]]] = attrs.field(factory=list, init=False)
    _turns: DeferredSemaphore = attrs.field(factory=lambda: DeferredSemaphore(AT_A_TIME), init=False)
    _stopped: bool = attrs.field(default=False, init=False)

    def distribute(self, config: ConfigData) -> None:
        """This is the newest configuration; bring it to where it belongs."""
        if self._stopped:
            return
        self._newest = State.of(config)
        for uuid in self._couriers.keys() - config.nodes.keys():
            self._couriers.pop(uuid).stop_timer()
        for uuid, node in config.nodes.items():
            courier = self._couriers.setdefault(uuid, Courier())
            if node.offline:
                courier.forget()
            else:
                self._send(uuid, courier)
        self._tell_waiting()

    def redistribute(self) -> None:
        """Bring everything to every node once more, whatever it is known to have."""
        for courier in self._couriers.values():
            courier.forget()
        if self._newest is not None:
            self.distribute(self._newest.config)

    async def when_distributed(self) -> None:
        """Waits until every node that is not offline has the present state or a newer one, or could not be reached."""
        if self._newest is not None and not self._is_out(self._newest.serial):
            done: Deferred[None] = Deferred()
            self._waiting.append((self._newest.serial, done))
            await done

    def stop(self) -> None:
        """Break off what is under way."""
        self._stopped = True
        for courier in self._couriers.values():
            courier.stop_timer()
            if courier.work is not None:
                courier.work.cancel()

    def _send(self, uuid: str, courier: Courier) -> None:
        courier.stop_timer()
        if courier.work is None:
            work = courier.work = Deferred.fromCoroutine(self._serve(uuid, courier))
            work.addErrback(self._broken_off, uuid)
            work.addBoth(lambda _: self._idle(courier))

    def _idle(self, courier: Courier) -> None:
        courier.work = None

    def _broken_off(self, failure: Failure, uuid: str) -> None:
        if not failure.check(CancelledError):
            self._log.failure("distribution to node {uuid} failed", failure=failure, uuid=uuid)

    async def _serve(self, uuid: str, courier: Courier) -> None:
        """Bring the newest state to a node until it has it, or fails."""
        while (node := self._unserved(uuid, courier)) is not None:
            await self._turns.acquire()
            try:
                state = self._present()
                await self._transfer(node, courier, state)
            except (RpcError, OSError) as error:
                self._failed(node, uuid, courier, error)
                break
            else:
                courier.failures = 0
            finally:
                courier.tried = state.serial
                self._turns.release()
                self._tell_waiting()

    def _unserved(self, uuid: str, courier: Courier) -> Node | None:
        """The node as it is configured now, if there is something to bring to it."""
        state = self._present()
        node = state.config.nodes.get(uuid)
        if node is None or node.offline or courier.tried >= state.serial or self._stopped:
            return None
        return node

    async def _transfer(self, node: Node, courier: Courier, state: State) -> None:
        if node.name == self._own_name:
            await write_ssconf(self._files, self._paths, state.ssconf)
            return
        if node.master_candidate and courier.has_config < state.serial:
            path = str(Paths().config_file)  # the node puts it below its own root
            await self._rpc.call(node, UploadFile(path=path, data=state.data, serial=state.serial))
            courier.has_config = state.serial
        if courier.has_ssconf != state.ssconf:
            await self._rpc.call(node, WriteSsconfFiles(values=state.ssconf, serial=state.serial))
            courier.has_ssconf = state.ssconf

    def _failed(self, node: Node, uuid: str, courier: Courier, error: RpcError | OSError) -> None:
        delay = min(FIRST_RETRY * 2**courier.failures, LAST_RETRY)
        courier.failures = min(courier.failures + 1, 16)
        courier.has_ssconf = None  # it may have been cut off in the middle
        self._log.warn(
            "the configuration did not reach node {node}: {error}; next try in {delay:g} seconds",
            node=node.name,
            error=str(error),
            delay=delay,
        )
        courier.retry = self._clock.callLater(delay, self._try_again, uuid, courier)

    def _try_again(self, uuid: str, courier: Courier) -> None:
        courier.retry = None
        courier.tried = 0
        self._send(uuid, courier)

    def _present(self) -> State:
        assert self._newest is not None
        return self._newest

    def _is_out(self, serial: int) -> bool:
        nodes = self._present().config.nodes
        return all(
            courier.tried >= serial
            for uuid, courier in self._couriers.items()
            if uuid in nodes and not nodes[uuid].offline and courier.retry is None
        )

    def _tell_waiting(self) -> None:
        ready = [(serial, done) for serial, done in self._waiting if self._is_out(serial)]
        self._waiting = [each for each in self._waiting if each not in ready]
        for _, done in ready:
            if not done.called:
                done.callback(None)
