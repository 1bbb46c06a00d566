"""The disks of instances: usable or not, larger, made anew, mirrored elsewhere."""

from typing import Any

from ganeti_tx.model.opcodes import (
    OpInstanceActivateDisks,
    OpInstanceDeactivateDisks,
    OpInstanceGrowDisk,
    OpInstanceRecreateDisks,
    OpInstanceReplaceDisks,
)
from ganeti_tx.rapi.http.http_errors import bad_request, not_found
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.operation import Argument, Call, Schema
from ganeti_tx.rapi.operations.schemas import NULL, TEXT
from ganeti_tx.rapi.operations.submission import FORCE, Params, Submission, from_flag, from_path, submits
from ganeti_tx.rapi.resources.places import INSTANCE, INSTANCE_PATH

#: Digits of a disk's number.
LONGEST_NUMBER = 9
IGNORE_SIZE = Argument("ignore_size", "flag", meaning="Do not mind sizes that differ from the recorded ones")

#: Arguments that hold what now stands in the body; they count when there is no body.
LEGACY = (
    Argument("remote_node", meaning="Old; give it in the body"),
    Argument("mode", meaning="Old; give it in the body"),
    Argument("disks", "list", meaning="Old; give it in the body"),
    Argument("iallocator", meaning="Old; give it in the body"),
    Argument("early_release", "flag", meaning="Old; give it in the body"),
)


def replacement(call: Call, body: Params) -> Params:
    """The body, or the arguments in its place; disks may be "0,1" in both."""
    given = body or legacy_replacement(call)
    if isinstance(disks := given.get("disks"), str):
        given = {**given, "disks": disk_indexes(disks)}
    return {name: value for name, value in given.items() if name != "disks" or value is not None}


def legacy_replacement(call: Call) -> Params:
    """What the arguments say."""
    texts: dict[str, Any] = {
        name: arguments.text(call, name) for name in ("remote_node", "mode", "disks", "iallocator")
    }
    texts["early_release"] = arguments.optional_flag(call, "early_release")
    return {name: value for name, value in texts.items() if value not in (None, "")}


def disk_indexes(text: str) -> list[int]:
    """@raise HttpError: it is no list of numbers with commas between them (400)."""
    try:
        return [int(part) for part in text.split(",") if part]
    except ValueError:
        raise bad_request(f"disks: expected numbers such as 0,1, got '{text:.{arguments.SHOWN}}'") from None


def disk_index(digits: str) -> int:
    """The number in the path. @raise HttpError: no instance has so many disks (404)."""
    if len(digits) > LONGEST_NUMBER:
        raise not_found(f"there is no disk {digits:.{arguments.SHOWN}}")
    return int(digits)


def replacement_schema(plain: Schema) -> Schema:
    """The opcode's schema, with disks as text too."""
    disks = {"anyOf": [plain["properties"]["disks"], {**TEXT, "pattern": "^[0-9](,[0-9])*$"}, NULL]}
    return {**plain, "properties": {**plain["properties"], "disks": disks}}


REPLACE = Submission(OpInstanceReplaceDisks, (INSTANCE,), prepare=replacement)

OPERATIONS = (
    submits(
        "PUT",
        f"{INSTANCE_PATH}/activate-disks",
        "instances_name_activate_disks",
        Submission(OpInstanceActivateDisks, (INSTANCE, from_flag("ignore_size", IGNORE_SIZE)), takes_body=False),
        "Make the disks of an instance usable on its primary node",
    ),
    submits(
        "PUT",
        f"{INSTANCE_PATH}/deactivate-disks",
        "instances_name_deactivate_disks",
        Submission(OpInstanceDeactivateDisks, (INSTANCE, FORCE), takes_body=False),
        "Shut down the disks of a stopped instance",
    ),
    submits(
        "POST",
        f"{INSTANCE_PATH}/disk/{{disk_index}}/grow",
        "instances_name_disk_grow",
        Submission(OpInstanceGrowDisk, (INSTANCE, from_path("disk", "disk_index", disk_index))),
        "Enlarge a disk",
    ),
    submits(
        "POST",
        f"{INSTANCE_PATH}/recreate-disks",
        "instances_name_recreate_disks",
        Submission(OpInstanceRecreateDisks, (INSTANCE,)),
        "Make lost disks anew, empty",
    ),
    submits(
        "POST",
        f"{INSTANCE_PATH}/replace-disks",
        "instances_name_replace_disks",
        REPLACE,
        "Replace the volumes below mirrored disks, or the node that holds the mirror",
        *LEGACY,
        body=replacement_schema(REPLACE.body_schema()),
        body_required=False,
    ),
)
