"""The command line of `burnin`, with the options of Ganeti's tool (reference: cli.json, tools)."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from ganeti_tx import __version__
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.cli.parameter_types import hypervisor_params
from ganeti_tx.cli.values import InvalidValue, is_natural, parse_identified, parse_key_values, parse_list, parse_size
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.disk_template import Adoption, Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.opcodes.types import RebootType
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "burnin"
#: Instances, processors of one, and seconds for its network, at most.
MOST_INSTANCES, MOST_VCPUS, MOST_SECONDS = 1000, 1024, 86400
DESCRIPTION = """\
Test a cluster with instances that are made for it, before it is given to users. Each step is done with every instance: it
is made, its disks are replaced and grown, it fails over, migrates, moves, is exported and imported, reinstalled, rebooted, gets
disks and network interfaces and loses them, is renamed, stopped and started. What the disk template, the hypervisor or the number
of nodes does not allow is left out, and so is what the options say. After each step the instances must run. In the end they are
removed, also after a failure or an interrupt, and nothing of them may be left.

The names must be free. A cluster that is in use is not harmed, but its jobs wait for each other. The exit status is 0 if all went
well, 1 if something failed or the burnin was interrupted, and 2 if the command line is wrong.

  burnin -o debootstrap+default -t drbd -p burn1.example.com burn2.example.com
"""
#: By their destinations: the options that leave a step out, and which.
LEAVE_OUT = {
    "do_replace1": ("--no-replace1", "replace disks on the same nodes"),
    "do_replace2": ("--no-replace2", "replace the secondary node"),
    "do_failover": ("--no-failover", "fail over"),
    "do_migrate": ("--no-migrate", "migrate"),
    "do_move": ("--no-move", "move to another node"),
    "do_importexport": ("--no-importexport", "export and import"),
    "do_startstop": ("--no-startstop", "stop and start"),
    "do_reinstall": ("--no-reinstall", "reinstall"),
    "do_reboot": ("--no-reboot", "reboot"),
    "do_renamesame": ("--no-renamesame", "rename to the same name"),
    "do_activate_disks": ("--no-activate-disks", "activate and deactivate disks"),
    "do_addremove_disks": ("--no-add-disks", "add and remove disks"),
    "do_addremove_nics": ("--no-add-nics", "add and remove network interfaces"),
    "do_confd_tests": ("--no-confd", "ask the configuration daemons"),
}
#: What a new instance can have without being told of something that is there already.
CHOICES = tuple(sorted(word for word, kind in TEMPLATES.items() if kind.adoption is not Adoption.ALWAYS))

#: Mirrors between nodes have most of the operations.
USUAL = next(word.value for word, kind in TEMPLATES.items() if kind.mirrored is Mirrored.INTERNALLY)


def reading(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader of values for argparse, with its own words for what is wrong."""

    def read_or_say(text: str) -> Any:
        try:
            return read(text)
        except InvalidValue as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read_or_say


def number(least: int, most: int) -> Callable[[str], int]:
    """A reader of numbers within bounds."""

    def read(text: str) -> int:
        if not is_natural(text) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from {least} to {most}")
        return int(text)

    return read


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("-d", "--debug", action="count", default=0, help="have the jobs say more; may be repeated")
    made.add_argument("-v", "--verbose", action="store_true", help="tell what the jobs say")
    made.add_argument("--reason", default="", metavar="REASON", help="note for the jobs' reason trail")
    made.add_argument("names", metavar="INSTANCE", nargs="+", help="names that no instance has")
    _add_instance(made.add_argument_group("the instances"))
    _add_place(made.add_argument_group("where they are, and how it goes"))
    left_out = made.add_argument_group("what is left out")
    for dest, (flag, what) in LEAVE_OUT.items():
        left_out.add_argument(flag, dest=dest, action="store_false", help=f"do not {what}")
    return made


def _add_instance(group: Any) -> None:
    size = reading(parse_size)
    group.add_argument("-o", "--os", required=True, metavar="OS", help="the OS definition, with its variant")
    group.add_argument("-t", "--disk-template", choices=CHOICES, default=USUAL, help="(default: %(default)s)")
    sizes = {"metavar": "SIZE,..."}
    group.add_argument("--disk-size", default="1G", **sizes, help="of each disk (default: %(default)s)")
    group.add_argument(
        "--disk-growth",
        default="128m",
        **sizes,
        help="by how much each disk grows, 0 for not at all (default: %(default)s)",
    )
    group.add_argument("--mem-size", type=size, metavar="SIZE", help="memory, all the time")
    group.add_argument(
        "--maxmem-size", type=size, default=256, metavar="SIZE", help="memory, at most (default: %(default)s MiB)"
    )
    group.add_argument(
        "--minmem-size", type=size, default=128, metavar="SIZE", help="memory, at least (default: %(default)s MiB)"
    )
    group.add_argument(
        "--vcpu-count", type=number(1, MOST_VCPUS), default=3, metavar="COUNT", help="processors (default: %(default)s)"
    )
    group.add_argument(
        "-H",
        "--hypervisor-parameters",
        dest="hypervisor",
        type=reading(parse_identified),
        metavar="HYPERVISOR:KEY=VALUE,...",
        help="the hypervisor, if not the cluster's usual one, and its parameters",
    )
    group.add_argument(
        "-O",
        "--os-parameters",
        dest="osparams",
        type=reading(parse_key_values),
        default={},
        metavar="KEY=VALUE,...",
        help="parameters of the OS definition",
    )
    group.add_argument(
        "--no-nics", dest="nics", action="store_const", const=[], default=[{}], help="give them no network interface"
    )
    group.add_argument("--no-name-check", dest="name_check", action="store_false", help="do not resolve the names")
    group.add_argument(
        "--no-ip-check", dest="ip_check", action="store_false", help="do not check that the addresses are free"
    )


def _add_place(group: Any) -> None:
    group.add_argument("-n", "--nodes", default="", metavar="NODE,...", help="use these nodes only (default: all)")
    group.add_argument("-I", "--iallocator", metavar="NAME", help="have this allocator choose the nodes")
    group.add_argument(
        "-p", "--parallel", action="store_true", help="do each step with all instances at once, not with one by one"
    )
    group.add_argument(
        "--early-release", action="store_true", help="have replaced disks removed before the new ones are in sync"
    )
    group.add_argument(
        "--reboot-types",
        metavar="TYPE,...",
        help=f"{', '.join(sorted(RebootType))} (default: all of them)",
    )
    group.add_argument("--rename", metavar="INSTANCE", help="a free name, that each instance gets for a while")
    group.add_argument(
        "-C",
        "--http-check",
        action="store_true",
        help="an instance runs only if http://INSTANCE/hostname.txt has its name",
    )
    group.add_argument(
        "--net-timeout",
        type=number(0, MOST_SECONDS),
        default=15,
        metavar="SECONDS",
        help="that an instance has until it must run (default: %(default)s)",
    )
    group.add_argument("-K", "--keep-instances", action="store_true", help="do not remove the instances in the end")


def read_words(made: argparse.ArgumentParser, arguments: Sequence[str] | None) -> Wanted:
    """What was typed. @raise SystemExit: with status 2, and a line that says what is wrong."""
    words = made.parse_args(arguments)
    try:
        hypervisor, hvparams = words.hypervisor or (None, {})
        if not isinstance(hvparams, dict):
            raise ValueError("--hypervisor-parameters: give HYPERVISOR:KEY=VALUE,...")
        wanted = Wanted(
            names=tuple(words.names),
            os=words.os,
            hypervisor=hypervisor,
            hvparams=hypervisor_params(hvparams),
            osparams=words.osparams,
            template=DiskTemplate(words.disk_template),
            disk_sizes=sizes_of("--disk-size", words.disk_size),
            disk_growth=sizes_of("--disk-growth", words.disk_growth),
            maxmem=words.mem_size or words.maxmem_size,
            minmem=words.mem_size or words.minmem_size,
            vcpus=words.vcpu_count,
            nics=tuple(words.nics),
            name_check=words.name_check,
            ip_check=words.ip_check and words.name_check,
            early_release=words.early_release,
            reboot_types=reboot_types(words.reboot_types),
            rename=words.rename,
            nodes=tuple(parse_list(words.nodes)),
            allocator=words.iallocator,
            parallel=words.parallel,
            net_timeout=words.net_timeout,
            http_check=words.http_check,
            keep_instances=words.keep_instances,
            left_out=frozenset(dest for dest in LEAVE_OUT if not getattr(words, dest)),
            verbose=words.verbose,
            debug=words.debug,
            reason=words.reason,
        )
        check(wanted)
    except (ValueError, GanetiError) as error:
        made.error(str(error))
    return wanted


def check(wanted: Wanted) -> None:
    """@raise ValueError: what does not go together."""
    if len(wanted.names) > MOST_INSTANCES:
        raise ValueError(f"{len(wanted.names)} instances are given; at most {MOST_INSTANCES} are allowed")
    if len(set(wanted.names)) < len(wanted.names):
        raise ValueError("an instance is given twice")
    if wanted.rename in wanted.names:
        raise ValueError(f"--rename: {wanted.rename!r} is one of the instances; give a name that none of them has")
    if wanted.nodes and wanted.allocator:
        raise ValueError("--iallocator chooses among all nodes; give it, or --nodes, but not both")
    if len(set(wanted.nodes)) < len(wanted.nodes):
        raise ValueError("--nodes: a node is given twice")
    if wanted.minmem > wanted.maxmem:
        raise ValueError(f"--minmem-size: {wanted.minmem} MiB are more than --maxmem-size, {wanted.maxmem} MiB")
    if wanted.kind.has_disks and len(wanted.disk_growth) != len(wanted.disk_sizes):
        raise ValueError(
            f"--disk-growth: {len(wanted.disk_growth)} sizes are given; give one for each disk of --disk-size,"
            f" that is {len(wanted.disk_sizes)}"
        )
    if 0 in wanted.disk_sizes or not wanted.disk_sizes:
        raise ValueError("--disk-size: a disk needs a size above 0")
    if wanted.http_check and not wanted.nics:
        raise ValueError("--http-check needs network interfaces, and --no-nics gives none")


def sizes_of(flag: str, text: str) -> tuple[int, ...]:
    """Sizes with commas between them. @raise ValueError: one is none."""
    try:
        return tuple(0 if each == "0" else parse_size(each) for each in parse_list(text))
    except InvalidValue as error:
        raise ValueError(f"{flag}: {error}") from None


def reboot_types(text: str | None) -> tuple[RebootType, ...]:
    """Those that are named, or all. @raise ValueError: one is not known."""
    known = sorted(RebootType)
    unknown = [each for each in parse_list(text or "") if each not in known]
    if unknown or text == "":
        raise ValueError(f"--reboot-types: {','.join(unknown)!r} is not known; give some of {', '.join(known)}")
    return tuple(map(RebootType, known if text is None else dict.fromkeys(parse_list(text))))
