"""Where instances run, and what moves them out of the cluster."""

from ganeti_tx.model.opcodes import OpBackupExport, OpBackupPrepare, OpInstanceFailover, OpInstanceMigrate
from ganeti_tx.model.opcodes.types import ExportMode
from ganeti_tx.rapi.operations.operation import Argument
from ganeti_tx.rapi.operations.submission import Submission, from_text, submits
from ganeti_tx.rapi.resources.places import INSTANCE, INSTANCE_PATH

MODE = Argument("mode", required=True, choices=tuple(ExportMode), meaning="To a node, or to another cluster")

OPERATIONS = (
    submits(
        "PUT",
        f"{INSTANCE_PATH}/migrate",
        "instances_name_migrate",
        Submission(OpInstanceMigrate, (INSTANCE,)),
        "Move a running instance to another node that has its disks",
    ),
    submits(
        "PUT",
        f"{INSTANCE_PATH}/failover",
        "instances_name_failover",
        Submission(OpInstanceFailover, (INSTANCE,)),
        "Stop an instance and start it on another node that has its disks",
    ),
    submits(
        "PUT",
        f"{INSTANCE_PATH}/prepare-export",
        "instances_name_prepare_export",
        Submission(OpBackupPrepare, (INSTANCE, from_text("mode", MODE)), takes_body=False),
        "Gather what another cluster needs to accept an instance",
    ),
    submits(
        "PUT",
        f"{INSTANCE_PATH}/export",
        "instances_name_export",
        Submission(OpBackupExport, (INSTANCE,), renames={"destination": "target_node"}),
        "Write an instance to a node, or to another cluster",
    ),
)
