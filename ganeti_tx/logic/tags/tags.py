"""Reading, setting, removing and finding tags."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError, ParameterError, QueryFilterParseError, TagError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.logic.base import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_instance
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes import OpTagsDel, OpTagsGet, OpTagsSearch, OpTagsSet
from ganeti_tx.model.tags import check_tag
from ganeti_tx.query.pattern import compile_pattern
from ganeti_tx.query.slices import Budget, Slices, Work


async def tag_locks(unit: LogicalUnit[OpTagsSet] | LogicalUnit[OpTagsDel], level: Level) -> Sequence[LockRequest]:
    """The exclusive lock of the one object whose tags change."""
    kind, name = unit.op.kind, unit.op.name
    if kind is TagKind.INSTANCE and level is Level.INSTANCE:
        return (on_instance((await unit.config.instance(name or "")).name, Mode.EXCLUSIVE),)
    if kind is TagKind.NODE and level is Level.NODE:
        return (LockRequest(Lock(level, (await unit.config.node(name or "")).uuid), Mode.EXCLUSIVE),)
    if kind is TagKind.NODEGROUP and level is Level.NODEGROUP:
        return (LockRequest(Lock(level, (await unit.config.group(name or "")).uuid), Mode.EXCLUSIVE),)
    if kind is TagKind.NETWORK and level is Level.NETWORK:
        return (LockRequest(Lock(level, (await unit.config.network(name or "")).uuid), Mode.EXCLUSIVE),)
    return ()


class Get(LogicalUnit[OpTagsGet]):
    """The tags of one object."""

    async def execute(self) -> list[str]:
        """Sorted."""
        return await self.config.tags(self.op.kind, self.op.name or None)


class Set(LogicalUnit[OpTagsSet]):
    """Add tags to one object."""

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The object's lock."""
        return await tag_locks(self, level)

    async def check(self) -> None:
        """Each is a tag."""
        try:
            for tag in self.op.tags:
                check_tag(tag)
        except TagError as error:
            raise OpPrereqError(str(error), ECode.INVAL)

    async def execute(self) -> None:
        """Add them."""
        await self.config.change_tags(self.op.kind, self.op.name or None, list(self.op.tags), [])


class Delete(LogicalUnit[OpTagsDel]):
    """Remove tags from one object."""

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The object's lock."""
        return await tag_locks(self, level)

    async def check(self) -> None:
        """Each is there."""
        present = set(await self.config.tags(self.op.kind, self.op.name or None))
        if missing := [tag for tag in self.op.tags if tag not in present]:
            raise OpPrereqError(f"tags not found: {', '.join(repr(tag) for tag in missing)}", ECode.NOENT)

    async def execute(self) -> None:
        """Remove them."""
        await self.config.change_tags(self.op.kind, self.op.name or None, [], list(self.op.tags))


class Search(LogicalUnit[OpTagsSearch]):
    """Find tags by a pattern over the whole cluster."""

    async def check(self) -> None:
        """It is a pattern that may run, as in filters of queries."""
        try:
            self._pattern = compile_pattern(self.op.pattern)
        except QueryFilterParseError as error:
            raise OpPrereqError(f"search pattern: {error}", ECode.INVAL) from None

    async def execute(self) -> list[tuple[str, str]]:
        """Pairs of an object's path and a tag."""
        tagged = [("/cluster", tag) for tag in await self.config.tags(TagKind.CLUSTER, None)]
        tagged += [(f"/instances/{each.name}", tag) for each in await self.config.instances() for tag in each.tags]
        tagged += [(f"/nodes/{each.name}", tag) for each in await self.config.nodes() for tag in each.tags]
        tagged += [(f"/nodegroup/{each.name}", tag) for each in await self.config.groups() for tag in each.tags]
        tagged += [(f"/network/{each.name}", tag) for each in await self.config.networks() for tag in each.tags]
        try:
            return await Slices(lambda: self.pause(0), self.around.worked).run(self._found(tagged), Budget())
        except (ParameterError, QueryFilterParseError) as error:
            raise OpExecError(f"search for tags: {error}") from None

    def _found(self, tagged: Sequence[tuple[str, str]]) -> Work[list[tuple[str, str]]]:
        """Those whose tag the pattern is found in, one at a time."""
        found = []
        for path, tag in tagged:
            yield
            if self._pattern.search(tag):
                found.append((path, tag))
        return found
