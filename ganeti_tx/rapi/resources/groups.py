"""Node groups."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.model.opcodes import OpGroupAdd, OpGroupAssignNodes, OpGroupRemove, OpGroupRename, OpGroupSetParams
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.operation import Call
from ganeti_tx.rapi.operations.rows import Noun
from ganeti_tx.rapi.operations.submission import DRY_RUN, FORCE, Submission, submits
from ganeti_tx.rapi.resources import fields
from ganeti_tx.rapi.resources.places import GROUP, GROUP_PATH

CUSTOM = {"custom_ndparams": "ndparams", "custom_ipolicy": "ipolicy", "custom_diskparams": "diskparams"}


async def ask(call: Call, names: Sequence[str], wanted: Sequence[str]) -> list[Any]:
    """As `rows.Ask` says."""
    return await call.luxi.query_groups(names, wanted)


GROUPS = Noun("groups", "node group", ask, fields.GROUP, part="group_name")

OPERATIONS = (
    GROUPS.listing(),
    GROUPS.showing(arguments.LOCK),
    submits(
        "POST",
        "/2/groups",
        "groups",
        Submission(OpGroupAdd, (DRY_RUN,), renames={"name": "group_name"}),
        "Make a node group",
    ),
    submits(
        "DELETE",
        GROUP_PATH,
        "groups_name",
        Submission(OpGroupRemove, (GROUP, DRY_RUN), takes_body=False),
        "Remove a node group without nodes",
    ),
    submits(
        "PUT",
        f"{GROUP_PATH}/modify",
        "groups_name_modify",
        Submission(OpGroupSetParams, (GROUP,), renames=CUSTOM),
        "Change a node group",
    ),
    submits(
        "PUT",
        f"{GROUP_PATH}/rename",
        "groups_name_rename",
        Submission(OpGroupRename, (GROUP, DRY_RUN)),
        "Give a node group another name",
    ),
    submits(
        "PUT",
        f"{GROUP_PATH}/assign-nodes",
        "groups_name_assign_nodes",
        Submission(OpGroupAssignNodes, (GROUP, DRY_RUN, FORCE)),
        "Move nodes to a group",
    ),
)
