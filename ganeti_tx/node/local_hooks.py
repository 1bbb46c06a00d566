"""Hooks that one node runs by itself: those around taking the master's address (Ganeti 3.0 hook table)."""

from collections.abc import Mapping

from attrs import define

from ganeti_tx.errors import HooksAbort
from ganeti_tx.mastership.ballot import read_word
from ganeti_tx.model.hooks import HookObject, HookPhase, HookStatus, environment
from ganeti_tx.node.hooks import Hooks
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: Seconds that the scripts of one phase may take.
TIME_LIMIT = 60.0


@define
class LocalHooks:
    """What a job would tell the scripts, told by the node."""

    files: IFiles
    paths: Paths
    hooks: Hooks
    own_name: str

    async def run(self, hook: str, phase: HookPhase, opcode: str, values: Mapping[str, str]) -> None:
        """@raise HooksAbort: a script of the pre phase failed; one of the post phase that fails is only logged."""
        told = environment(
            hook,
            phase,
            opcode,
            HookObject.CLUSTER,
            cluster=read_word(self.files, self.paths.ssconf_file("cluster_name")),
            master=read_word(self.files, self.paths.ssconf_file("master_node")),
            before=values,
            after=values if phase is HookPhase.POST else None,
        )
        results = await self.hooks.run(hook, phase, told, TIME_LIMIT)
        failed = [[self.own_name, each.script, each.output] for each in results if each.status is HookStatus.FAIL]
        if failed and phase is HookPhase.PRE:
            raise HooksAbort(failed)
