"""Out-of-band commands: what a program of the administrator's knows of nodes and does with their power, without the nodes."""

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.node.oob_answers import POWERED, WORRYING, Cell, CellStatus, Unreadable, read
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpOobCommand
from ganeti_tx.model.opcodes.types import OobCommand
from ganeti_tx.model.params.node import fill_ndparams, oob_program
from ganeti_tx.rpc.calls.administration import RunOob
from ganeti_tx.rpc.interfaces import NodeCallError, RpcError

#: Those that take power from a node, if only for a moment.
TAKING = (OobCommand.POWER_OFF, OobCommand.POWER_CYCLE)
ACTING = (OobCommand.POWER_ON, *TAKING)
#: What is recorded of a node after a command.
RECORDED = {OobCommand.POWER_ON: True, OobCommand.POWER_OFF: False}
#: Seconds that may be given for a program, and between nodes.
LONGEST = 3600


class LUOobCommand(LogicalUnit[OpOobCommand]):
    """One node after the other, in the order in which they are named; all without names, but for the master what takes power.

    One that fails does not keep the others from their turn; what was to act fails then at the end, what only asks does not.
    """

    _nodes: list[Node]
    _programs: Mapping[str, str]
    _master: Node

    async def expand_names(self) -> None:
        """Which nodes."""
        self._check_numbers()
        names = self.op.node_uuids or self.op.node_names
        master = (await self.config.cluster()).master_node
        if names:
            found = [await self.config.node(name) for name in names]
        else:
            spared = self.op.command in TAKING
            found = [node for node in await self.config.nodes() if not (spared and node.uuid == master)]
        self._nodes = list({node.uuid: node for node in found}.values())

    def _check_numbers(self) -> None:
        op = self.op
        if not 1 <= op.timeout <= LONGEST:
            raise OpPrereqError(f"timeout is {op.timeout} s; allowed are 1 to {LONGEST}", ECode.INVAL)
        if not math.isfinite(op.power_delay) or not 0 <= op.power_delay <= LONGEST:
            raise OpPrereqError(f"power_delay is {op.power_delay} s; allowed are 0 to {LONGEST}", ECode.INVAL)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Those whose power is switched; who only asks waits for nobody."""
        if level is not Level.NODE or self.op.command not in ACTING:
            return ()
        return on_nodes([node.uuid for node in self._nodes], Mode.EXCLUSIVE)

    async def check(self) -> None:
        """Nobody loses power whom the cluster needs."""
        cluster = await self.config.cluster()
        self._master = await self.config.node(cluster.master_node)
        self._nodes = [await self.config.node(node.uuid) for node in self._nodes]
        groups = {uuid: await self.config.group(uuid) for uuid in {node.group for node in self._nodes}}
        self._programs = {
            node.uuid: oob_program(fill_ndparams(cluster, groups[node.group], node)) for node in self._nodes
        }
        for node in self._nodes:
            self._check_power(node, self._programs[node.uuid])

    def _check_power(self, node: Node, program: str) -> None:
        if self.op.command in TAKING and node.uuid == self._master.uuid:
            hint = f"; by hand that would be: {program} {self.op.command} {node.name}" if program else ""
            raise OpPrereqError(
                f"node {node.name} is the master, on which this job runs: {self.op.command} is not done for it{hint}",
                ECode.INVAL,
            )
        off = self.op.command is OobCommand.POWER_OFF and program
        if off and not node.offline and not self.op.ignore_status:
            raise OpPrereqError(
                f"node {node.name} is not marked offline, so its power is not switched off; mark it with 'gnt-node modify"
                " --offline=yes', or give --ignore-status (ignore_status)",
                ECode.STATE,
            )

    def plan(self) -> Plan:
        """A step for each node that has a program."""
        return [
            PlannedStep(self._title(node), (self._master.name,), (f"node {node.name}",), self.op.timeout)
            for node in self._nodes
            if self._programs[node.uuid]
        ]

    def _title(self, node: Node) -> str:
        return f"run {self.op.command} for node {node.name}"

    async def execute(self) -> list[list[Cell]]:
        """For each node its name and what was found."""
        failed: dict[str, str] = {}
        rows, tried = [], 0
        for node in self._nodes:
            cell: Cell = (CellStatus.UNAVAILABLE, None)
            if self._programs[node.uuid]:
                if tried and self.op.command is OobCommand.POWER_ON and self.op.power_delay:
                    await self.pause(self.op.power_delay)
                tried += 1
                cell = await self._command(node, failed)
            rows.append([(CellStatus.NORMAL, node.name), cell])
        self._check_outcome(failed, tried)
        return [[(int(status), value) for status, value in row] for row in rows]

    async def _command(self, node: Node, failed: dict[str, str]) -> Cell:
        command = self.op.command
        async with self.step(self._title(node)):
            try:
                data = read(command, await self._run(node))
            except (RpcError, Unreadable) as error:
                cause = error.cause if isinstance(error, NodeCallError) else error
                failed[node.name] = str(cause)
                self.warn(f"Out-of-band RPC failed on node '{node.name}': {cause}")
                return CellStatus.NO_DATA, None
            if (powered := RECORDED.get(command)) is not None:
                await self._record(node, powered)
        self._compare(node, data)
        return CellStatus.NORMAL, data

    async def _run(self, node: Node) -> str:
        program = self._programs[node.uuid]
        call = RunOob(program=program, command=self.op.command, remote_node=node.name, seconds=self.op.timeout)
        return await self.nodes.call(self._master, call)

    async def _record(self, node: Node, powered: bool) -> None:
        self.info(f"Node {node.name} has been powered {'on' if powered else 'off'}")
        if node.powered != powered:
            await self.config.change_nodes([replace(node, powered=powered)], {})

    def _compare(self, node: Node, data: object) -> None:
        """Tell what somebody should look at."""
        if isinstance(data, dict) and data[POWERED] is not None and data[POWERED] != node.powered:
            found, recorded = ("on" if each else "off" for each in (data[POWERED], node.powered))
            self.warn(
                f"node {node.name} is {found}, but recorded is that it is {recorded}; 'gnt-node modify --node-powered'"
                " records what is"
            )
        for item, status in data if isinstance(data, list) else ():
            if status in WORRYING:
                self.warn(f"Item '{item}' on node '{node.name}' has status '{status}'")

    def _check_outcome(self, failed: Mapping[str, str], tried: int) -> None:
        """@raise OpExecError: what should have been done was not."""
        if failed and self.op.command in ACTING:
            each = "; ".join(f"{name}: {why}" for name, why in failed.items())
            raise OpExecError(f"{self.op.command} failed for {len(failed)} of {tried} nodes: {each}")
