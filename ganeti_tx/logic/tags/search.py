"""Finding tags over the whole cluster."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError, ParameterError, QueryFilterParseError
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes import OpTagsSearch
from ganeti_tx.query.language.pattern import compile_pattern
from ganeti_tx.query.language.slices import Budget, Slices, Work


class LUTagsSearch(LogicalUnit[OpTagsSearch]):
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
            return await Slices(lambda: self.pause(0), self.context.worked).run(self._found(tagged), Budget())
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
