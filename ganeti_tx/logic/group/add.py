"""Making a node group."""

from ganeti_tx.logic.group.on_group import check_free, described, given_to
from ganeti_tx.logic.group.settings import with_settings
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.enums import AllocPolicy
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpGroupAdd
from ganeti_tx.model.params.ipolicy import PartialPolicy

ADD = "add the group to the configuration"


class LUGroupAdd(LogicalUnit[OpGroupAdd]):
    """Make a group without nodes. Nobody can use what is not there yet, so that no lock is needed."""

    hook = Hook(
        "group-add",
        HookObject.GROUP,
        pre=HookNodes.MASTER,
        post=HookNodes.MASTER,
        asked={"GROUP_NAME": "group_name"},
    )

    _group: NodeGroup

    async def check(self) -> None:
        """The name is free, and the settings are possible."""
        name = self.op.group_name
        await check_free(self.config, name, f"Desired group name '{name}' already exists as a node group")
        for told in given_to(name, self.context.group_scopes()):
            self.warn(told)
        bare = NodeGroup(
            serial_no=1,
            uuid=await self.config.generate_uuid(),
            name=name,
            alloc_policy=AllocPolicy.PREFERRED,
            ndparams={},
            ipolicy=PartialPolicy(),
            diskparams={},
            networks={},
        )
        self._group = with_settings(bare, self.op, await self.config.cluster())

    def plan(self) -> Plan:
        """One change."""
        return [PlannedStep(ADD, (), described(self._group))]

    async def execute(self) -> None:
        """Add it."""
        async with self.step(ADD):
            await self.config.add_group(self._group)
