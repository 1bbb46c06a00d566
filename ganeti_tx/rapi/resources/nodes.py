"""Nodes: listed, shown, changed, emptied; their roles."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.model.opcodes import OpNodeEvacuate, OpNodeMigrate, OpNodePowercycle, OpNodeSetParams
from ganeti_tx.model.params.node import oob_program
from ganeti_tx.rapi.http.http_errors import bad_request
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.operation import Argument, Call
from ganeti_tx.rapi.operations.rows import Item, Noun
from ganeti_tx.rapi.operations.submission import DRY_RUN, FORCE, Params, Submission, submits
from ganeti_tx.rapi.resources import fields
from ganeti_tx.rapi.resources.places import NODE, NODE_PATH

LIVE = Argument("live", "flag", meaning="Old; give mode in the body")
MODE = Argument("mode", meaning="Old; give it in the body")


async def ask(call: Call, names: Sequence[str], wanted: Sequence[str]) -> list[Any]:
    """As `rows.Ask` says."""
    return await call.luxi.query_nodes(names, wanted)


def with_known_power(item: Item) -> Item:
    """The node; whether it is powered is known only where a program can tell."""
    ndparams = item["ndparams"]
    return item if isinstance(ndparams, dict) and oob_program(ndparams) else {**item, "powered": None}


NODES = Noun(
    "nodes",
    "node",
    ask,
    fields.NODE,
    key="id",
    part="node_name",
    aliases={"secondary_ip": "sip"},
    finish=with_known_power,
)


def migration(call: Call, body: Params) -> Params:
    """The body, or what the old arguments say in its place. @raise HttpError: both arguments are there (400)."""
    live, mode = (name in call.arguments for name in (LIVE.name, MODE.name))
    if live and mode:
        raise bad_request("give 'live' or 'mode', not both")
    if live:
        return {"mode": "live" if arguments.flag(call, LIVE.name) else "non-live"}
    return {"mode": arguments.text(call, MODE.name)} if mode else body


OPERATIONS = (
    NODES.listing(),
    NODES.showing(arguments.LOCK),
    submits(
        "POST",
        f"{NODE_PATH}/modify",
        "nodes_name_modify",
        Submission(OpNodeSetParams, (NODE,), renames={"custom_ndparams": "ndparams"}),
        "Change a node",
    ),
    submits(
        "POST",
        f"{NODE_PATH}/evacuate",
        "nodes_name_evacuate",
        Submission(OpNodeEvacuate, (NODE, DRY_RUN)),
        "Submit the jobs that bring instances away from a node",
    ),
    submits(
        "POST",
        f"{NODE_PATH}/migrate",
        "nodes_name_migrate",
        Submission(OpNodeMigrate, (NODE,), prepare=migration),
        "Submit the jobs that migrate all primary instances of a node",
        LIVE,
        MODE,
    ),
    submits(
        "POST",
        f"{NODE_PATH}/powercycle",
        "nodes_name_powercycle",
        Submission(OpNodePowercycle, (NODE, FORCE)),
        "Reset the machine of a node",
    ),
)
