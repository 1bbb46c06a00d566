"""gnt-backup import."""

from collections.abc import Sequence

from ganeti_tx.cli.instance.add import COMMON_OPTIONS, common_parameters, switches
from ganeti_tx.cli.instance.devices import Device, disks_of, nics_of
from ganeti_tx.cli.options import ONE_INSTANCE, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.compression import NONE

OPTIONS = (
    *COMMON_OPTIONS,
    switch("--identify-defaults", "identify_defaults", "what is as in the cluster need not be the instance's own"),
    Option(("--src-dir",), "src_dir", "directory of the export, below that of all", "string"),
    Option(("--src-node",), "src_node", "node on which the export is", "string"),
    Option(("--compress",), "compress", "how the data are packed on their way", "string", NONE),
)
YES = ("ignore_ipolicy", "opportunistic_locking", "identify_defaults")
NO = ("ip_check", "name_check", "conflicts_check", "wait_for_sync")


def import_instance(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Make one instance of an export, which says all that is not said here; it is not started."""
    op = opcode(
        "OP_INSTANCE_CREATE",
        instance_name=names[0],
        mode="import",
        disks=_disks(options),
        nics=nics_of(options.nics, True),
        no_nics=unless(False, options.no_nics and not options.nics),
        start=False,
        src_node=options.src_node,
        src_path=options.src_dir,
        compress=unless(NONE, options.compress),
        **common_parameters(options),
        **switches(options, YES, NO),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


def _disks(options: Parsed) -> list[Device]:
    """Those that are given; else the export says."""
    if not options.disks and options.sd_size is None:
        return []
    return disks_of(options.disk_template, options.disks, options.sd_size)


IMPORT = Command(import_instance, ONE_INSTANCE, OPTIONS)
