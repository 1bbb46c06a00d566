"""Changes of the cluster as a whole."""

from typing import Any, Literal, get_args

from attrs import evolve

from ganeti_tx.model.opcodes import OpClusterRedistConf, OpClusterSetParams
from ganeti_tx.model.opcodes.types import ListAction
from ganeti_tx.model.settings.guests import NameActions
from ganeti_tx.model.settings.table import DECLARED
from ganeti_tx.rapi.operations.operation import Call
from ganeti_tx.rapi.operations.submission import Params, Submission, submits

#: Parameters that are read as {"default": {...}} and set without it.
NESTED = [
    each.parameter for each in DECLARED for fact in each.facts if get_args(fact.type)[:1] == (Literal["default"],)
]
#: Lists that are read as names and set as steps, each [action, name].
STEPWISE = [each.parameter for each in DECLARED if each.takes == NameActions]
#: What programs elsewhere may not set.
FORBIDDEN = frozenset(each.parameter for each in DECLARED if each.changes and not each.remote)


def as_set(call: Call, body: Params) -> Params:
    """The body with settings as they are set, where it has them as they are read."""
    return {name: inner(value) if name in NESTED else value for name, value in body.items()}


def inner(value: Any) -> Any:
    """The parameters below "default" when there is nothing beside it."""
    return value["default"] if isinstance(value, dict) and value.keys() == {"default"} else value


def steps(wanted: list[str], present: list[str]) -> list[list[str]]:
    """What brings a list of names from what is present to what is wanted."""
    added = [[ListAction.ADD.value, name] for name in wanted if name not in present]
    return added + [[ListAction.REMOVE.value, name] for name in present if name not in wanted]


def is_names(value: object) -> bool:
    """Whether a list is one as it is read; an empty one has no steps, and changes nothing."""
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)


async def modify(call: Call) -> int:
    """Submit the change; its job's id. Whole lists of names are compared with what is there now."""
    body = call.body
    whole = [name for name in STEPWISE if isinstance(body, dict) and is_names(body.get(name))]
    if whole:
        present = await call.luxi.query_cluster_info()
        body = body | {name: steps(body[name], present[name]) for name in whole}
    return await MODIFY.run(evolve(call, body=body))


MODIFY = Submission(OpClusterSetParams, forbidden=FORBIDDEN, prepare=as_set)

OPERATIONS = (
    evolve(submits("PUT", "/2/modify", "cluster_modify", MODIFY, "Change settings of the cluster"), run=modify),
    submits(
        "PUT",
        "/2/redistribute-config",
        "redist_config",
        Submission(OpClusterRedistConf, takes_body=False),
        "Send the configuration to all nodes once more",
    ),
)
