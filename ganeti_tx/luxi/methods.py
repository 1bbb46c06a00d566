"""The one table of LUXI methods: each with its arguments, as servers check and clients send them.

The names and the argument texts are those of the Ganeti 3.0 LUXI table. The same kind of table serves any protocol that
shares LUXI's framing and messages; give it to the server and to the clients.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.luxi.shapes import (
    ANYTHING,
    BOOL,
    FALSE,
    INT,
    JOB_ID,
    LIST,
    NATURAL,
    NUMBER,
    OBJECTS,
    STRING,
    STRINGS,
    Shape,
    ShapeError,
    list_of,
    nullable,
    one_of,
    wrong,
)


class Param(NamedTuple):
    """One argument in its place; optional ones stand last."""

    meaning: str
    shape: Shape
    optional: bool = False


class Method(NamedTuple):
    """One method; `any_args` marks those that look at no arguments at all, whatever is sent.

    A client that waits for one that `gives_way` loses its connection when others need the place; it can ask again.
    """

    name: str
    params: tuple[Param, ...]
    any_args: bool = False
    gives_way: bool = False

    def read(self, args: object) -> list[object]:
        """The arguments, checked, job ids as ints; absent optional ones stay absent.

        @raise OpPrereqError: the wrong number of arguments, or one of another shape (wrong_input).
        """
        if self.any_args:
            return []
        if not isinstance(args, list):
            raise self._refusal(str(wrong("a list of arguments", args)))
        required = sum(not param.optional for param in self.params)
        if not required <= len(args) <= len(self.params):
            raise self._refusal(f"got {len(args)} arguments, expected {self._signature()}")
        return [self._read_one(*pair) for pair in zip(self.params, args, strict=False)]

    def _read_one(self, param: Param, value: object) -> object:
        try:
            return param.shape.read(value)
        except ShapeError as error:
            raise self._refusal(f"{param.meaning}: {error}") from None

    def _signature(self) -> str:
        return "(" + "; ".join(param.meaning for param in self.params) + ")"

    def _refusal(self, text: str) -> OpPrereqError:
        return OpPrereqError(f"{self.name}: {text}", ECode.INVAL)


class MethodTable:
    """The methods of one protocol by name."""

    def __init__(self, methods: Iterable[Method]) -> None:
        self._methods = {method.name: method for method in methods}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all methods, in the order of the table."""
        return tuple(self._methods)

    def __getitem__(self, name: str) -> Method:
        """The method of a name. @raise OpPrereqError: there is none (wrong_input)."""
        method = self._methods.get(name)
        if method is None:
            raise OpPrereqError(f"Unknown method {name[:100]!r}; known are {', '.join(self._methods)}", ECode.INVAL)
        return method


_JOB = Param("job id", JOB_ID)
_OPS = Param("list of opcode objects", OBJECTS)
_RESOURCE = Param("resource name", STRING)
_FIELDS = Param("list of fields", STRINGS)
_NO_LOCK = Param("lock bool, must be false", FALSE)
_CLASSIC = (Param("list of names", STRINGS), _FIELDS, _NO_LOCK)
TAG_KINDS = ("cluster", "nodegroup", "node", "instance", "network")

METHODS = MethodTable(
    [
        Method("SubmitJob", (_OPS,)),
        Method("SubmitJobToDrainedQueue", (_OPS,)),
        Method("SubmitManyJobs", (Param("list of lists of opcode objects", list_of(OBJECTS)),)),
        Method(
            "WaitForJobChange",
            (
                _JOB,
                Param("list of field names", STRINGS),
                Param("previous job info: list or null", nullable(LIST)),
                Param("previous log serial: int or null", nullable(INT)),
                Param("timeout: int seconds", INT),
            ),
        ),
        Method("PickupJob", (_JOB,)),
        Method("CancelJob", (_JOB, Param("kill bool (optional, default false)", BOOL, optional=True))),
        Method("ChangeJobPriority", (_JOB, Param("priority int", INT))),
        Method("ArchiveJob", (_JOB,)),
        Method("AutoArchiveJobs", (Param("age int seconds; -1 for all", INT), Param("timeout int seconds", INT))),
        Method("Query", (_RESOURCE, _FIELDS, Param("filter or null", nullable(LIST)))),
        Method("QueryFields", (_RESOURCE, Param("list of fields or null", nullable(STRINGS)))),
        Method("QueryJobs", (Param("list of job ids or null", nullable(list_of(JOB_ID))), _FIELDS)),
        Method("QueryFilters", (Param("list of uuids or null", nullable(STRINGS)), _FIELDS)),
        Method("QueryInstances", _CLASSIC),
        Method("QueryNodes", _CLASSIC),
        Method("QueryGroups", _CLASSIC),
        Method("QueryNetworks", _CLASSIC),
        Method("QueryExports", (Param("list of node names", STRINGS), _NO_LOCK)),
        Method("QueryConfigValues", (Param("list of names", STRINGS),)),
        Method("QueryClusterInfo", (), any_args=True),
        Method(
            "QueryTags",
            (
                Param("kind: cluster, nodegroup, node, instance or network", one_of(*TAG_KINDS)),
                Param("name (empty string for cluster)", STRING),
            ),
        ),
        Method("SetDrainFlag", (Param("bool", BOOL),)),
        Method("SetWatcherPause", (Param("end time as float seconds, or null to unpause", nullable(NUMBER)),)),
        Method(
            "ReplaceFilter",
            (
                Param("uuid or null", nullable(STRING)),
                Param("priority int >= 0", NATURAL),
                Param("list of predicates", LIST),
                Param("action", ANYTHING),
                Param("reason trail list of [source, text, nanoseconds]", list_of(LIST)),
            ),
        ),
        Method("DeleteFilter", (Param("uuid", STRING),)),
    ]
)
