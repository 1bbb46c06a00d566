"""How an option is declared, and the options that several commands share (Ganeti 3.0 command line table)."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Option(NamedTuple):
    """One option as a value; `takes` is a type name of the command line table, None for a switch."""

    flags: tuple[str, ...]
    dest: str
    help: str
    takes: str | None = None
    default: Any = None
    action: str = "store"
    choices: tuple[str, ...] = ()
    const: Any = None
    metavar: str | None = None
    #: Further spellings that older designs name; accepted, not shown.
    old_flags: tuple[str, ...] = ()
    #: What the flag means when no value follows it, where it may stand alone.
    bare: str | None = None
    #: Whether a value must follow behind a "=", so that what comes next is something else.
    attached: bool = False
    #: Whether this command of Ganeti's does not have it.
    own: bool = False
    #: Of what its value is a list, which nobody but this command knows.
    words: tuple[str, ...] = ()


class Argument(NamedTuple):
    """So many arguments of one kind; `most` None is without limit. `shown`: what help calls it, if not by its kind."""

    kind: str
    least: int = 0
    most: int | None = None
    choices: tuple[str, ...] = ()
    shown: str = ""


#: The formats of what a command gives to programs: of nested values, and of rows.
TREE = ("json", "yaml")
TABLE = (*TREE, "csv")


class Command(NamedTuple):
    """One subcommand: what runs, what it takes. `default_args` names the environment variable put before the words."""

    run: Callable[..., int]
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    default_args: str | None = None
    #: What --help tells besides the options.
    manual: str = ""
    #: In which formats programs may have what it prints; nothing, where it prints no result.
    prints: tuple[str, ...] = ()
    #: Whether it costs so little that it may be asked for again and again.
    watched: bool = False

    @property
    def formats(self) -> tuple[str, ...]:
        """Those of what it prints; what only submits has the numbers of its jobs to give."""
        return self.prints or (TREE if SUBMIT in self.options else ())

    @property
    def own_options(self) -> tuple[Option, ...]:
        """What Ganeti does not have, by what the command prints."""
        watching = (WATCH,) if self.watched else ()
        return (OUTPUT_FORMAT._replace(choices=self.formats), COLOR, *watching) if self.formats else ()

    @property
    def all_options(self) -> tuple[Option, ...]:
        """Its own, those that follow from what it prints, and those of every command."""
        return (*self.options, *self.own_options, *COMMON)


def switch(flags: str, dest: str, help: str) -> Option:
    """An option without value: false, true when given."""
    return Option(tuple(flags.split()), dest, help, default=False, action="store_true")


def negative(flags: str, dest: str, help: str) -> Option:
    """An option without value: true, false when given."""
    return Option(tuple(flags.split()), dest, help, default=True, action="store_false")


def yes_no(flags: str, dest: str, help: str) -> Option:
    """An option whose value is yes or no; without it nothing is said."""
    return Option(tuple(flags.split()), dest, help, "bool", metavar="yes|no")


def constant(flag: str, dest: str, const: Any, help: str) -> Option:
    """An option without value that stores a constant."""
    return Option((flag,), dest, help, action="store_const", const=const)


PRIORITIES = {"low": 10, "normal": 0, "high": -10}

ONE_INSTANCE = (Argument("instance", 1, 1),)
MANY_INSTANCES = (Argument("instance"),)
ONE_NODE = (Argument("node", 1, 1),)
MANY_NODES = (Argument("node"),)
ONE_GROUP = (Argument("group", 1, 1),)
MANY_GROUPS = (Argument("group"),)
ONE_HOST = (Argument("host", 1, 1),)
ONE_JOB = (Argument("jobid", 1, 1),)
SOME_JOBS = (Argument("jobid", 1),)
MANY_JOBS = (Argument("jobid"),)
ONE_FILTER = (Argument("filter", 1, 1),)
MANY_FILTERS = (Argument("filter"),)
ONE_WORD = (Argument("unknown", 1, 1),)
MANY_WORDS = (Argument("unknown"),)
ONE_FILE = (Argument("file", 1, 1),)
SOME_FILES = (Argument("file", 1),)

DEBUG = Option(("-d", "--debug"), "debug", "show more of what happens; may be repeated", default=0, action="count")
REASON = Option(("--reason",), "reason", "note for the job's reason trail", "string", default=[])
COMMON = (DEBUG, REASON)

OUTPUT_FORMAT = Option(
    ("--output-format",), "output_format", "print one document for programs, with values of their own types", "choice",
    own=True,
)  # fmt: skip
COLOR = Option(
    ("--color",), "color", "whether words get colours; auto is on a terminal, unless NO_COLOR is set", "choice", "auto",
    choices=("auto", "always", "never"), old_flags=("--colour",), own=True,
)  # fmt: skip
WATCH = Option(
    ("--watch",), "watch", "show it again each so many seconds (2 without a number), until Ctrl-C", "int",
    metavar="SECONDS", bare="2", attached=True, own=True,
)  # fmt: skip

PRIORITY = Option(
    ("--priority",), "priority", "priority of the job", "choice", None, "callback", tuple(PRIORITIES),
    metavar="low|normal|high",
)  # fmt: skip
DRY_RUN = switch("--dry-run", "dry_run", "check only, change nothing")
SUBMIT = switch("--submit", "submit_only", "submit the job and print its id, do not wait for it")
PRINT_JOBID = switch("--print-jobid", "print_jobid", "print the job's id before waiting for it")
SUBMITTING = (SUBMIT, PRINT_JOBID)
FORCE = switch("-f --force", "force", "ask no questions")
VERBOSE = switch("-v --verbose", "verbose", "show more")
AUTO_PROMOTE = switch("--auto-promote", "auto_promote", "promote another node to master candidate where one is lacking")
YES_DO_IT = Option(("--yes-do-it", "--ya-rly"), "yes_do_it", "really do it", action="store_true")
SHUTDOWN_TIMEOUT = Option(
    ("--shutdown-timeout",), "shutdown_timeout", "seconds the instance may take to shut down", "int", 120
)
NODE_GROUP = Option(("-g", "--node-group"), "nodegroup", "the node group", "string", metavar="<nodegroup>")
IALLOCATOR = Option(("-I", "--iallocator"), "iallocator", "program that chooses the nodes", "string", metavar="<NAME>")
BACKEND = Option(
    ("-B", "--backend-parameters"), "beparams", "backend parameters, such as memory and vcpus", "keyval", {}
)
SECONDARY_IP = Option(
    ("-s", "--secondary-ip"),
    "secondary_ip",
    "address for replication and migration traffic",
    "string",
    metavar="ADDRESS",
)
MASTER_CAPABLE = yes_no("--master-capable", "master_capable", "whether the node may become master")
VM_CAPABLE = yes_no("--vm-capable", "vm_capable", "whether the node may hold instances")
NODE_PARAMETERS = Option(("--node-parameters",), "ndparams", "node parameters", "keyval")
HYPERVISOR_STATE = Option(("--hypervisor-state",), "hv_state", "hypervisor state", "identkeyval", [], "append")
DISK_STATE = Option(("--disk-state",), "disk_state", "disk state", "identkeyval", [], "append")

NO_HEADERS = switch("--no-headers", "no_headers", "print no line of titles")
SEPARATOR = Option(("--separator",), "separator", "text between the columns, which are then not aligned", "string")
UNITS = Option(
    ("--units",), "units", "unit of sizes: h (human), m, g or t", "choice", choices=("h", "m", "g", "t")
)  # fmt: skip
OUTPUT = Option(
    ("-o", "--output"), "output", "fields to show, comma separated; +FIELDS adds to the usual ones", "string",
    metavar="FIELDS",
)  # fmt: skip
FILTER = switch("-F --filter", "force_filter", "take the argument as a filter")
LISTING = (NO_HEADERS, SEPARATOR, UNITS, OUTPUT, VERBOSE, FILTER)
FIELD_LISTING = (NO_HEADERS, SEPARATOR)

ROMAN = switch("--roman", "roman_integers", "print small numbers in Roman")
TAGS_SOURCE = Option(("--from",), "tags_source", "read tags from this file, one a line; - is standard input", "string")
