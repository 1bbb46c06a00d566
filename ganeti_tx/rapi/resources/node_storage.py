"""The storage units of nodes."""

from typing import Any

from attrs import evolve

from ganeti_tx.model.enums import StorageType
from ganeti_tx.model.opcodes import OpNodeModifyStorage, OpNodeQueryStorage, OpRepairNodeStorage
from ganeti_tx.rapi.http.http_errors import bad_request
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.operation import Argument, Call
from ganeti_tx.rapi.operations.submission import Fixed, Submission, from_text, submits
from ganeti_tx.rapi.resources.places import NODE, NODE_PATH

STORAGE_TYPE = Argument("storage_type", choices=tuple(StorageType), meaning="The kind of storage")
OUTPUT_FIELDS = Argument("output_fields", "list", required=True, meaning="What to tell of each unit")
NAME = Argument("name", required=True, meaning="The unit")
ALLOCATABLE = Argument("allocatable", "flag", meaning="Whether it takes new volumes")

STORAGE = from_text("storage_type", STORAGE_TYPE)
#: Where it must be told which kind is meant.
ONE_STORAGE = from_text("storage_type", evolve(STORAGE_TYPE, required=True))
UNIT = from_text("name", NAME)


def one_node(call: Call) -> list[str]:
    """The list of nodes that the path makes."""
    return [call.parts["node_name"]]


def output_fields(call: Call) -> list[str]:
    """What to tell. @raise HttpError: nothing is named (400)."""
    wanted = arguments.listed(call, OUTPUT_FIELDS.name)
    if not wanted:
        raise bad_request("argument 'output_fields' is missing; give it as ?output_fields=name,size,...")
    return wanted


def changes(call: Call) -> dict[str, Any]:
    """What is to become different."""
    allocatable = arguments.optional_flag(call, ALLOCATABLE.name)
    return {} if allocatable is None else {"allocatable": allocatable}


OPERATIONS = (
    submits(
        "GET",
        f"{NODE_PATH}/storage",
        "nodes_name_storage",
        Submission(
            OpNodeQueryStorage,
            (Fixed("nodes", one_node), STORAGE, Fixed("output_fields", output_fields, (OUTPUT_FIELDS,))),
            takes_body=False,
        ),
        "List the storage units of a node by a job",
    ),
    submits(
        "PUT",
        f"{NODE_PATH}/storage/modify",
        "nodes_name_storage_modify",
        Submission(
            OpNodeModifyStorage, (NODE, ONE_STORAGE, UNIT, Fixed("changes", changes, (ALLOCATABLE,))), takes_body=False
        ),
        "Change a storage unit of a node",
    ),
    submits(
        "PUT",
        f"{NODE_PATH}/storage/repair",
        "nodes_name_storage_repair",
        Submission(OpRepairNodeStorage, (NODE, ONE_STORAGE, UNIT), takes_body=False),
        "Repair a storage unit of a node",
    ),
)
