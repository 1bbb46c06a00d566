"""The lab by hand: Debian machines under QEMU, with LVM and DRBD.

up [--count N]                          two machines, unless N says else
   [--init quick|systemd|xen|xen-hvm]   that run an SSH server, or all that Debian starts, or an SSH server under Xen,
                                        for paravirtualised guests, or on a processor for fully virtualised ones
   [--memory MIB]                       of each; as little as will do, unless said
status                                  which machines have power, and where their consoles are
shell                                   a shell in the machines' network, at 10.99.0.254
ssh NODE [COMMAND...]                   a shell on a machine, or a command for one
cut NODE, boot NODE                     power: what runs is gone at once, what is on its disks stays
down                                    end and remove all of it
campaign [--pages] [TEST...]            tests upon machines, and upon Gluster and Ceph, also those that bin/test leaves out
                                        for their time; with --pages doc/lab-times.rst and doc/lab-devices.rst are written by
                                        those that pass

--state DIRECTORY, before the verb, has more than one lab at a time. The image is made once and kept where GANETI_LAB_CACHE
says, for root in /var/cache/ganeti_tx-lab.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE
from ganeti_tx.test.lab.kept import LabFailed, cache_directory
from ganeti_tx.test.lab.lab import Lab
from ganeti_tx.test.lab.machine import MEMORY
from ganeti_tx.test.lab.times import PAGES, PAGES_VARIABLE

#: What the campaign consists of: tests upon machines, and others that need servers which take long to install.
TESTS = (
    "ganeti_tx.test.lab",
    "ganeti_tx.test.real.test_gluster",
    "ganeti_tx.test.real.test_gluster_cluster",
    "ganeti_tx.test.real.test_gluster_guest",
    "ganeti_tx.test.real.test_kvm_migration_secrets",
    "ganeti_tx.test.real.test_rbd",
)
VERBS = ("up", "status", "shell", "ssh", "cut", "boot", "down", "campaign")


def parser() -> argparse.ArgumentParser:
    """Of the command line."""
    made = argparse.ArgumentParser(prog="lab", usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--state", type=Path, default=cache_directory() / "run")
    verbs = made.add_subparsers(dest="verb", required=True)
    for verb in VERBS:
        one = verbs.add_parser(verb)
        if verb == "up":
            one.add_argument("--count", type=int, default=2)
            one.add_argument("--init", choices=tuple(MEMORY), default="quick")
            one.add_argument("--memory", type=int)
        if verb in ("ssh", "cut", "boot"):
            one.add_argument("node", type=node_number)
        if verb == "campaign":
            one.add_argument("--pages", action="store_true")
            one.add_argument("tests", nargs="*", metavar="TEST")
        if verb == "ssh":
            one.add_argument("command", nargs=argparse.REMAINDER)
    return made


def node_number(name: str) -> int:
    """Of a machine that is called by its number, as "node1", by its full name, or by an address."""
    number = name.rpartition(".")[2] if name.startswith("10.99.") else name.partition(".")[0].removeprefix("node")
    if not number.isdecimal():
        raise argparse.ArgumentTypeError(f"{name!r} is no machine; they are called 1, 2, ..., or node1, node2, ...")
    return int(number)


def act(options: argparse.Namespace) -> None:
    """Do what was asked. @raise LabFailed: it cannot be done."""
    lab = Lab(options.state.absolute())
    match options.verb:
        case "up":
            lab.up(options.count, options.init, lambda line: print(line, flush=True), options.memory)
            tell(lab)
        case "status":
            tell(lab)
        case "shell":
            become(lab.network.inside([os.environ.get("SHELL") or "/bin/sh"]))
        case "ssh":
            terminal = ["-t"] if not options.command and sys.stdin.isatty() else []
            become([*lab.machine(options.node).ssh(*terminal), *options.command])
        case "cut":
            lab.machine(options.node).cut()
        case "boot":
            machine = lab.machine(options.node)
            machine.boot()
            machine.wait()
        case "down":
            lab.down()
        case "campaign":
            os.environ[CAMPAIGN_VARIABLE] = "yes"
            if options.pages:
                os.environ[PAGES_VARIABLE] = str(PAGES)
            become([sys.executable, "-m", "twisted.trial", "--rterrors", *(options.tests or TESTS)])


def tell(lab: Lab) -> None:
    """Print what there is."""
    for machine in lab.machines:
        print(f"{machine.name}  {'on' if machine.is_on else 'off':3}  {machine.console}")


def become(argv: Sequence[str]) -> None:
    """Go on as another program."""
    os.execvp(argv[0], list(argv))


def main() -> int:
    """The exit status."""
    try:
        act(parser().parse_args())
    except LabFailed as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
