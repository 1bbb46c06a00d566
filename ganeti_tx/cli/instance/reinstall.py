"""gnt-instance reinstall."""

from collections.abc import Sequence

from ganeti_tx.cli.failures import Declined
from ganeti_tx.cli.instance import selection
from ganeti_tx.cli.instance.power import FORCE_MULTIPLE
from ganeti_tx.cli.instance.selection import selected_instances
from ganeti_tx.cli.options import DRY_RUN, FORCE, MANY_INSTANCES, PRIORITY, SUBMITTING, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import choose, confirm, confirm_many
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, opcode, run_each, run_opcode, unless

ABORT = "x"
#: What is asked for of the jobs that reinstall, and not of the one whose result is needed first.
LATER = dict.fromkeys(("submit_only", "print_jobid", "dry_run"), False)


def reinstall(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Install the instances anew, each in a job of its own."""
    chosen = selected_instances(session, options, words)
    system = chosen_system(session, options) if options.select_os else options.os
    if chosen.several and not options.force_multi:
        confirm_many(session, chosen.names, "instances", "reinstall", "--force-multiple", LOSS)
    elif not (chosen.several or options.force):
        confirm(session, question(chosen.names[0], system), "--force")

    def op(name: str) -> OpCode:
        return opcode(
            "OP_INSTANCE_REINSTALL",
            instance_name=name,
            os_type=system,
            force_variant=unless(False, options.force_variant),
            osparams=options.osparams or None,
            osparams_private=options.osparams_private or None,
            osparams_secret=options.osparams_secret or None,
        )

    return run_each(session, options, {name: op(name) for name in chosen.names}, announced=chosen.several)


LOSS = "All data on their disks is removed."


def question(name: str, system: str | None) -> str:
    """What is asked of one instance."""
    change = f"change the OS to '{system}'" if system else "keep the same OS"
    return f"This will reinstall the instance '{name}' (and {change}) which removes all data. Continue?"


def chosen_system(session: Session, options: Parsed) -> str:
    """The system that was chosen from a list. @raise Declined: none was."""
    now = Parsed({**vars(options), **LATER})
    rows = run_opcode(session, now, opcode("OP_OS_DIAGNOSE", output_fields=["name", "variants"]))
    names = [full for name, variants in rows for full in ([f"{name}+{each}" for each in variants] or [name])]
    session.print("Available OS templates:")
    for number, name in enumerate(names):
        session.print(f"{number:3}: {name}")
    choices = {str(number): name for number, name in enumerate(names)}
    answer = choose(
        session,
        "Enter OS template number (or x to abort):",
        {**choices, ABORT: "Exit gnt-instance reinstall"},
        ABORT,
        "--os-type",
    )
    if answer == ABORT:
        raise Declined("User aborted reinstall")
    return choices[answer]


REINSTALL = Command(
    reinstall,
    MANY_INSTANCES,
    (
        FORCE,
        Option(
            ("-o", "--os-type"),
            "os",
            "the OS definition to install, if not the one that it has",
            "string",
            metavar="<os>",
        ),
        switch("--force-variant", "force_variant", "take a variant that the OS definition does not list"),
        FORCE_MULTIPLE,
        *(option for option in selection.OPTIONS if option.const != selection.GROUPS),
        switch("--select-os", "select_os", "choose the OS definition from a list"),
        *SUBMITTING,
        DRY_RUN,
        PRIORITY,
        Option(("-O", "--os-parameters"), "osparams", "parameters of the OS definition", "keyval", {}),
        Option(
            ("--os-parameters-private",), "osparams_private", "OS parameters kept but not shown", "keyprivateval", {}
        ),
        Option(
            ("--os-parameters-secret",), "osparams_secret", "OS parameters that are never kept", "keyprivateval", {}
        ),
    ),
)
