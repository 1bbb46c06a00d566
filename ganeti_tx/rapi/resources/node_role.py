"""The one role of a node, read and set."""

from collections.abc import Callable, Mapping

from ganeti_tx.model.opcodes import OpNodeSetParams
from ganeti_tx.rapi.http.http_errors import bad_request
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.bodies import json_kind
from ganeti_tx.rapi.operations.operation import Argument, Call, Operation
from ganeti_tx.rapi.operations.schemas import TEXT
from ganeti_tx.rapi.operations.submission import ANYBODY, FORCE, Fixed, Submission, from_flag, submits
from ganeti_tx.rapi.resources.nodes import NODES
from ganeti_tx.rapi.resources.places import NODE, NODE_PATH

MASTER = "master"
#: What queries call the roles.
LETTERS = {"M": MASTER, "C": "master-candidate", "R": "regular", "D": "drained", "O": "offline"}
#: The settings that bring a node into a role; what is not there stays as it is.
SETTINGS: Mapping[str, Mapping[str, bool]] = {
    "regular": {"master_candidate": False, "offline": False, "drained": False},
    "master-candidate": {"master_candidate": True},
    "drained": {"drained": True},
    "offline": {"offline": True},
}
AUTO_PROMOTE = Argument("auto-promote", "flag", meaning="Make other nodes candidates where candidates get too few")


async def role(call: Call) -> str:
    """The role's name."""
    arguments.flag(call, arguments.LOCK.name)
    (letter,) = await NODES.row(call, ["role"])
    return LETTERS[letter]


def settings_of(wanted: object) -> Mapping[str, bool]:
    """What brings a node into the role that a body names. @raise HttpError: it names none (400)."""
    if not isinstance(wanted, str):
        raise bad_request(f'the body must be a role as a JSON string, such as "drained", not {json_kind(wanted)}')
    if wanted not in SETTINGS:
        raise bad_request(refusal(wanted))
    return SETTINGS[wanted]


def refusal(wanted: str) -> str:
    """Why a node cannot be brought into that role."""
    if wanted == MASTER:
        return "no node becomes master this way; run 'gnt-cluster master-failover' on the new master"
    return f"unknown role '{wanted:.{arguments.SHOWN}}'; allowed are {', '.join(SETTINGS)}"


def setting(name: str) -> Fixed:
    """One setting of a node as the role in the body wants it."""
    read: Callable[[Call], bool | None] = lambda call: settings_of(call.body).get(name)  # noqa: E731
    return Fixed(name, read)


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{NODE_PATH}/role",
        resource="nodes_name_role",
        access=ANYBODY,
        run=role,
        summary="Tell the role of a node",
        result={**TEXT, "enum": list(LETTERS.values())},
        arguments=(arguments.LOCK,),
        tags=("nodes",),
    ),
    submits(
        "PUT",
        f"{NODE_PATH}/role",
        "nodes_name_role",
        Submission(
            OpNodeSetParams,
            (
                NODE,
                setting("master_candidate"),
                setting("offline"),
                setting("drained"),
                FORCE,
                from_flag("auto_promote", AUTO_PROMOTE),
            ),
            takes_body=False,
        ),
        "Bring a node into a role",
        body={**TEXT, "enum": list(SETTINGS)},
        body_required=True,
    ),
)
