"""LUXI methods that Ganeti does not have; only programs of ours call them."""

from ganeti_tx.luxi.methods import METHODS, Method, MethodTable, Param
from ganeti_tx.luxi.shapes import INT, NATURAL, STRING, STRINGS, nullable

WAIT_FOR_EVENTS = Method(
    "WaitForEvents",
    (
        Param("event id, or null for the present end", nullable(STRING)),
        Param("list of kinds or null", nullable(STRINGS)),
        Param("list of object names or null", nullable(STRINGS)),
        Param("timeout: int seconds", INT),
        Param("limit: int, most events in one answer", NATURAL),
    ),
    gives_way=True,
)

QUERY_METRICS = Method("QueryMetrics", ())

OWN_METHODS = (WAIT_FOR_EVENTS, QUERY_METRICS)
#: What our master daemon answers.
ALL_METHODS = MethodTable([*(METHODS[name] for name in METHODS.names), *OWN_METHODS])
