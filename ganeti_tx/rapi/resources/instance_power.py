"""Starting and stopping instances."""

from ganeti_tx.model.opcodes import OpInstanceReboot, OpInstanceShutdown, OpInstanceStartup
from ganeti_tx.model.opcodes.types import RebootType
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.operation import Argument, Call
from ganeti_tx.rapi.operations.submission import DRY_RUN, FORCE, Fixed, Submission, from_flag, submits
from ganeti_tx.rapi.resources.places import INSTANCE, INSTANCE_PATH

NO_REMEMBER = from_flag("no_remember", Argument("no_remember", "flag", meaning="Do not note the new state"))
REBOOT_TYPE = Argument("type", choices=tuple(RebootType), meaning="hard without it")
IGNORE_SECONDARIES = Argument("ignore_secondaries", "flag", meaning="Go on without unreachable secondary nodes")


def reboot_type(call: Call) -> str:
    """The word that was given, unchecked."""
    return arguments.text(call, REBOOT_TYPE.name) or "hard"


OPERATIONS = (
    submits(
        "PUT",
        f"{INSTANCE_PATH}/startup",
        "instances_name_startup",
        Submission(OpInstanceStartup, (INSTANCE, FORCE, DRY_RUN, NO_REMEMBER), takes_body=False),
        "Start an instance",
    ),
    submits(
        "PUT",
        f"{INSTANCE_PATH}/shutdown",
        "instances_name_shutdown",
        Submission(OpInstanceShutdown, (INSTANCE, NO_REMEMBER, DRY_RUN)),
        "Stop an instance",
    ),
    submits(
        "POST",
        f"{INSTANCE_PATH}/reboot",
        "instances_name_reboot",
        Submission(
            OpInstanceReboot,
            (
                INSTANCE,
                Fixed("reboot_type", reboot_type, (REBOOT_TYPE,)),
                from_flag("ignore_secondaries", IGNORE_SECONDARIES),
                DRY_RUN,
            ),
        ),
        "Restart an instance",
    ),
)
