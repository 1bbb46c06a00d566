"""What belongs to another disk template: it is not converted yet, so it is refused."""

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams

#: What is said of a new template; without one it means nothing.
OF_TEMPLATE = ("remote_node", "remote_node_uuid", "iallocator", "ext_params", "file_driver", "file_storage_dir")


def refuse_conversion(op: OpInstanceSetParams) -> None:
    """@raise OpPrereqError: wrong_input, another template is asked for, or something is said of one."""
    if op.disk_template is not None:
        raise OpPrereqError(
            f"conversion to disk template {op.disk_template.value} is not available in this version", ECode.INVAL
        )
    if given := [name for name in OF_TEMPLATE if getattr(op, name)]:
        raise OpPrereqError(f"{given[0]} goes with a new disk template only; give disk_template, too", ECode.INVAL)
