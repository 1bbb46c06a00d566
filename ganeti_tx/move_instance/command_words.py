"""The command line of `move-instance`, with the options of Ganeti's tool (reference: remote-export.json, move_instance)."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from ganeti_tx import __version__
from ganeti_tx.cli.parameter_types import BACKEND, hypervisor_params, typed
from ganeti_tx.cli.values import InvalidValue, parse_identified, parse_key_values
from ganeti_tx.errors import GanetiError
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.runtime.tool_parser import ToolParser

PROGRAM = "move-instance"
PORT = 5080
#: Instances that are moved at the same time, at most.
MOST_PARALLEL = 64
#: Tries with the allocator's nodes as they are free, and seconds between two.
MOST_TRIES, MOST_DELAY, DELAY = 1000, 86400.0, 5.0
DESCRIPTION = """\
Move instances from one cluster to another. Both clusters do it themselves, asked by their Remote APIs; they need the same domain
secret ('gnt-cluster renew-crypto --cluster-domain-secret=FILE' gives it to one), and the nodes of the source must reach those of
the destination. An instance that runs is stopped, and started again at its destination; it is removed from the source when the
destination has all of it, and stays as it was when anything fails. Secret and private OS parameters are not taken along.

What is said about the source holds for the destination, too, unless that is said otherwise. The exit status is 0 if all
instances were moved, else 1.
"""


@frozen(kw_only=True)
class Place:
    """Where a cluster's Remote API is, and how it is asked."""

    host: str
    port: int
    authority: Path | None
    user: str | None
    password: Path | None


@frozen(kw_only=True)
class Wanted:
    """What was typed, and makes sense."""

    source: Place
    destination: Place
    instances: Sequence[str]
    new_name: str | None
    primary_node: str | None
    secondary_node: str | None
    allocator: str | None
    disk_template: str | None
    nics: Mapping[int, Mapping[str, Any]]
    backend: Mapping[str, Any]
    #: The hypervisor itself, if it is said.
    kind: Hypervisor | None
    hypervisor: Mapping[str, Any]
    os: Mapping[str, Any]
    compress: str
    keeps_source: bool
    parallel: int
    tries: int
    delay: float
    #: 1 for the steps, 2 for what the jobs say besides.
    verbosity: int


def number(least: float, most: float, kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader of numbers within bounds."""

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from {least:g} to {most:g}")
        return value

    return read


def key_values(text: str) -> Mapping[str, Any]:
    """KEY=VALUE,..."""
    try:
        return parse_key_values(text)
    except InvalidValue as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def of_nic(text: str) -> tuple[int, Mapping[str, Any]]:
    """N:KEY=VALUE,..."""
    try:
        index, given = parse_identified(text)
    except InvalidValue as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not index.isascii() or not index.isdigit() or len(index) > 3 or not isinstance(given, dict):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not N:KEY=VALUE,... with the number of an interface, from 0"
        )
    return int(index), given


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = ToolParser(PROGRAM, description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("-V", "--version", action="version", version=f"{PROGRAM} (ganeti ganeti_tx) {__version__}")
    made.add_argument("-d", "--debug", action="count", default=0, help="tell also what the jobs say")
    made.add_argument("-v", "--verbose", action="count", default=0, help="tell each step")
    made.add_argument("source", metavar="SOURCE", help="the cluster that has the instances")
    made.add_argument("destination", metavar="DESTINATION", help="the one that gets them")
    made.add_argument("instances", metavar="INSTANCE", nargs="+", help="the instances")
    for short, whose in (("src", "source"), ("dest", "destination")):
        group = made.add_argument_group(whose)
        port = number(1, 65535, int)
        group.add_argument(
            f"--{short}-rapi-port", type=port, metavar="PORT", help=f"of its Remote API (default: {PORT})"
        )
        group.add_argument(f"--{short}-ca-file", type=Path, metavar="FILE", help="certificates that it is known by")
        group.add_argument(f"--{short}-username", metavar="NAME", help="of a user who may change instances")
        group.add_argument(f"--{short}-password-file", type=Path, metavar="FILE", help="its first line is the password")
    _add_instance_options(made.add_argument_group("the instance at its destination"))
    made.add_argument(
        "--compress", default="none", metavar="MODE", help="a tool that both clusters have (default: none)"
    )
    made.add_argument(
        "-p", "--parallel", type=number(1, MOST_PARALLEL, int), default=1, metavar="N", help="move so many at a time"
    )
    made.add_argument(
        "--keep-source-instance", action="store_true", help="leave it in the source, and start it there again"
    )
    _add_try_options(made.add_argument_group("an allocator's nodes"))
    return made


def _add_try_options(group: Any) -> None:
    tries, delay = number(1, MOST_TRIES, int), number(0, MOST_DELAY, float)
    first, between = "first try so often with nodes that nobody else has", "between these tries (default: %(default)g)"
    group.add_argument("--opportunistic-tries", type=tries, metavar="N", help=first)
    group.add_argument("--opportunistic-delay", type=delay, default=DELAY, metavar="SECONDS", help=between)


def _add_instance_options(group: Any) -> None:
    group.add_argument("--dest-instance-name", metavar="NAME", help="its new name (for one instance)")
    group.add_argument("--dest-primary-node", metavar="NODE", help="where it runs (for one instance)")
    group.add_argument("--dest-secondary-node", metavar="NODE", help="where else it has disks (for one instance)")
    group.add_argument("-I", "--iallocator", metavar="NAME", help="what chooses its nodes")
    group.add_argument("--dest-disk-template", metavar="TEMPLATE", help="of its disks (default: as in the source)")
    group.add_argument(
        "--dest-hypervisor",
        choices=[kind.value for kind in Hypervisor],
        metavar="NAME",
        help="what runs it (default: as in the source, if that keeps guests apart from their node)",
    )
    group.add_argument(
        "--net",
        type=of_nic,
        action="append",
        default=[],
        metavar="N:KEY=VALUE,...",
        help="what is other for interface N",
    )
    for flags, whose in (
        (("-B", "--backend-parameters"), "the backend"),
        (("-H", "--hypervisor-parameters"), "the hypervisor"),
        (("-O", "--os-parameters"), "the OS"),
    ):
        group.add_argument(
            *flags, type=key_values, default={}, metavar="KEY=VALUE,...", help=f"other parameters of {whose}"
        )


def read_words(made: argparse.ArgumentParser, arguments: Sequence[str] | None) -> Wanted:
    """What was typed. @raise SystemExit: with status 2, and a line that says what is wrong."""
    words = made.parse_args(arguments)
    try:
        check(words)
        source = place(words, "src", words.source, Place(host="", port=PORT, authority=None, user=None, password=None))
        return Wanted(
            source=source,
            destination=place(words, "dest", words.destination, source),
            instances=tuple(words.instances),
            new_name=words.dest_instance_name,
            primary_node=words.dest_primary_node,
            secondary_node=words.dest_secondary_node,
            allocator=words.iallocator,
            disk_template=words.dest_disk_template,
            nics=nics_of(words.net),
            backend=typed(words.backend_parameters, BACKEND, "backend"),
            kind=Hypervisor(words.dest_hypervisor) if words.dest_hypervisor else None,
            hypervisor=hypervisor_params(words.hypervisor_parameters),
            os=words.os_parameters,
            compress=words.compress,
            keeps_source=words.keep_source_instance,
            parallel=words.parallel,
            tries=words.opportunistic_tries or 0,
            delay=words.opportunistic_delay,
            verbosity=2 if words.debug else min(words.verbose, 2),
        )
    except (ValueError, GanetiError) as error:
        made.error(str(error))


def check(words: argparse.Namespace) -> None:
    """@raise ValueError: what does not go together."""
    for_one = {
        "--dest-instance-name": words.dest_instance_name,
        "--dest-primary-node": words.dest_primary_node,
        "--dest-secondary-node": words.dest_secondary_node,
    }
    given = [flag for flag, value in for_one.items() if value]
    if len(words.instances) > 1 and given:
        raise ValueError(f"{', '.join(given)}: only for a single instance, and {len(words.instances)} are given")
    if len(set(words.instances)) < len(words.instances):
        raise ValueError("an instance is given twice")
    if words.iallocator and (words.dest_primary_node or words.dest_secondary_node):
        raise ValueError("--iallocator chooses the nodes; give it, or nodes of the destination, but not both")
    if words.dest_secondary_node and not words.dest_primary_node:
        raise ValueError("--dest-secondary-node needs --dest-primary-node")
    if words.opportunistic_tries and not words.iallocator:
        raise ValueError("--opportunistic-tries needs an allocator; give it with --iallocator")


def place(words: argparse.Namespace, short: str, host: str, usual: Place) -> Place:
    """Of one side; `usual` is what holds where nothing is said."""

    def said(name: str, otherwise: Any) -> Any:
        value = getattr(words, f"{short}_{name}")
        return otherwise if value is None else value

    return Place(
        host=host,
        port=said("rapi_port", usual.port),
        authority=said("ca_file", usual.authority),
        user=said("username", usual.user),
        password=said("password_file", usual.password),
    )


def nics_of(given: Sequence[tuple[int, Mapping[str, Any]]]) -> Mapping[int, Mapping[str, Any]]:
    """By their numbers; what is said later of one counts."""
    found: dict[int, dict[str, Any]] = {}
    for index, values in given:
        found.setdefault(index, {}).update(values)
    return found
