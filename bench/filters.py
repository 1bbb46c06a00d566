#!/usr/bin/env python3
"""What filters cost over 2,000 instances in memory: `bench/filters.py` prints the best time of each in ms, and how long a
hostile one, which is refused in the end, holds the reactor up at most.
"""

import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.query.language.slices import Slices
from ganeti_tx.query.resources import make_queries
from ganeti_tx.query.view import Views
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import CONFIG as SAMPLE
from ganeti_tx.test.model.samples import INSTANCE
from ganeti_tx.test.query.case import FakeJobs

COUNT, ROUNDS = 2000, 15
INSTANCES = [replace(INSTANCE, uuid=f"uuid-{number}", name=f"web{number:04}.{'e' * 40}.com") for number in range(COUNT)]
CONFIG = replace(SAMPLE, instances={each.uuid: each for each in INSTANCES})
VIEWS = Views(lambda: CONFIG)
FIELDS = ["name", "pnode", "os", "disk_template", "tags", "be/maxmem", "nic.count", "ctime", "uuid", "hypervisor"]
USUAL: Mapping[str, Any] = {
    "no filter": None,
    "a pattern": ["=~", "name", "^web.*5.*com$"],
    "ten patterns": ["|", *[["=~", "name", f"^web{number}.*$"] for number in range(10)]],
    "three comparisons": ["|", ["==", "os", "a"], ["!=", "disk_template", "drbd"], ["=[]", "tags", "x"]],
    "a hundred comparisons": ["|", *[["==", "os", str(number)] for number in range(100)]],
}
HOSTILE = ["|", *[["=~", "name", f"e*e*e*e*z{number}"] for number in range(100)]]


def ask(condition: Any, slices: Slices) -> list[Any]:
    """The answer, or why there is none."""
    out: list[Any] = []
    queries = make_queries(VIEWS, FakeNodeRpc(), lambda: (), FakeJobs(dict), slices)
    Deferred.fromCoroutine(queries.query("instance", FIELDS, condition)).addBoth(out.append)
    return out


def best(condition: Any) -> float:
    """Milliseconds."""
    took = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        ask(condition, Slices())
        took.append(time.perf_counter() - begun)
    return min(took) * 1000


def longest() -> tuple[float, float]:
    """Milliseconds of the longest slice of the hostile filter, and of all together."""
    moments = [time.perf_counter()]

    async def rest() -> None:
        moments.append(time.perf_counter())

    (failure,) = ask(HOSTILE, Slices(rest))
    print(f"hostile: {failure.getErrorMessage()}")
    return max(b - a for a, b in pairwise(moments)) * 1000, (moments[-1] - moments[0]) * 1000


if __name__ == "__main__":
    for name, condition in USUAL.items():
        print(f"{name:22} {best(condition):6.1f} ms")
    print("longest slice {:.1f} ms of {:.0f} ms".format(*longest()))
