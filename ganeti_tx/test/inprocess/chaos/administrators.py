"""What administrators change meanwhile: roles of nodes, limits, filters; and how they put everything right again."""

from functools import partial
from random import Random
from typing import Any

from attrs import define, field

from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.test.inprocess.chaos.operators import Operators

ACTIONS: tuple[Any, ...] = ("PAUSE", "REJECT", "ACCEPT", ["RATE_LIMIT", 1])
PREDICATES: tuple[list[Any], ...] = (
    [["opcode", ["=", "OP_ID", "OP_TEST_DELAY"]]],
    [["opcode", ["=", "OP_ID", "OP_TAGS_SET"]]],
    [["jobid", [">", "id", "watermark"]]],
)
LIMIT = 20


@define(eq=False)
class Administrators:
    """They use the same means as operators."""

    operators: Operators
    chance: Random
    acted: bool = False
    filters: list[str] = field(factory=list)

    def begin(self) -> None:
        """On some days nothing is changed."""
        if self.chance.random() < 0.5:
            return
        self.acted = True
        for _ in range(self.chance.randint(1, 4)):
            self.operators.act_at(
                self.chance.random() * 12.0, self.chance.choice([self.role, self.role, self.limit, self.filter])
            )

    async def role(self) -> None:
        """Another role for a node that is not the master."""
        change = self.chance.choice(
            [{"drained": True}, {"drained": False}, {"offline": True}, {"offline": False}, {"master_candidate": False}]
        )
        node = self.chance.choice(self._others())
        switches = {"force": True, "auto_promote": True}
        await self.operators.submit([self.operators.opcode("OP_NODE_SET_PARAMS", node_name=node, **switches, **change)])

    def _others(self) -> list[str]:
        cluster = self.operators.cluster
        return [node.name for node in cluster.members if node is not cluster.master]

    async def limit(self) -> None:
        """Fewer jobs at a time."""
        number = self.chance.randint(1, 3)
        await self.operators.submit([self.operators.opcode("OP_CLUSTER_SET_PARAMS", max_running_jobs=number)])

    async def filter(self) -> None:
        """Some jobs are held back, refused, or let through one by one."""
        predicates, action = self.chance.choice(PREDICATES), self.chance.choice(ACTIONS)
        uuid = await self.operators.ask(lambda luxi: luxi.replace_filter(None, 1, predicates, action, []))
        self.operators.record.tell(f"filter {uuid}: {predicates} {action}")
        self.filters.append(uuid)

    async def let_run(self) -> list[int]:
        """All jobs may run."""
        for uuid in sorted(self.operators.cluster.config.filters):
            await self.operators.ask(partial(_delete, uuid))
            self.operators.record.tell(f"filter {uuid} is removed")
        return await self.operators.submit([self.operators.opcode("OP_CLUSTER_SET_PARAMS", max_running_jobs=LIMIT)])

    async def welcome(self) -> list[int]:
        """All nodes take part; to be called when no job is left that changes that."""
        opcode = self.operators.opcode
        roles = [
            [
                opcode("OP_NODE_SET_PARAMS", node_name=node, force=True, **{flag: False})
                for flag in ("offline", "drained")
            ]
            + [opcode("OP_NODE_SET_PARAMS", node_name=node, master_candidate=True)]
            for node in self._others()
        ]
        return await self.operators.submit(*roles)


async def _delete(uuid: str, luxi: AsyncClient) -> None:
    await luxi.delete_filter(uuid)
