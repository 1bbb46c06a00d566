"""The table of opcodes of Ganeti 3.0, and sample values for the types it names."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

FACTS: dict[str, Any] = json.loads((Path(__file__).parent.parent / "facts" / "opcodes.json").read_text())
#: What Ganeti 3.0 does not have, told as its table would.
OURS: dict[str, Any] = {
    "OP_NETWORK_RENAME": {
        "class_name": "OpNetworkRename",
        "dsc_field": "network_name",
        "param_order": ["network_name", "new_name"],
        "params": {
            name: {"default": "required", "required": True, "type": "non-empty string"}
            for name in ("network_name", "new_name")
        },
    }
}
OPCODE_FACTS: dict[str, Any] = {**FACTS["opcodes"], **OURS}


class Samples(NamedTuple):
    """JSON values that a type admits, and some that it refuses."""

    good: list[Any]
    bad: list[Any]


TEXT = Samples(["", "text"], [None, 5, True, [], {}])
NON_EMPTY = Samples(["text"], [None, 5, "", []])
ANYTHING = Samples([None, 5, 1.5, "text", [1, "a"], {"a": {"b": None}}], [])
OPEN_DICT = Samples([{}, {"a": 1, "b": [None]}], [None, [], "text", 5])
DISK = Samples([{}, {"size": 1024, "mode": "rw"}], [None, [], {"": 1}, {"size": None}, {"mode": ""}, {"size": [1]}])
NIC = Samples([{}, {"ip": "192.0.2.1", "mac": None}], [None, [], {"color": "red"}, {"ip": 5}])
DEPENDS = Samples(
    [None, [], [[-1, ["success"]], [17, ["canceled", "error"]]]], [5, [[1]], [["a", []]], [[1, ["running"]]]]
)
REASON = Samples([[], [["gnt:client", "why", 1700000000000000000]]], [None, [["a", "b"]], [["a", "b", "c"]], "text"])
PLAIN: dict[str, Samples] = {
    "string": TEXT,
    "non-empty string": NON_EMPTY,
    "bool": Samples([True, False], [None, 0, "true"]),
    "int": Samples([-1, 0, 7], [None, True, 1.5, "1"]),
    "int >= 0": Samples([0, 7], [None, -1, True, 1.5, "1"]),
    "int > 0": Samples([1], [None, 0, -1, True]),
    "int 0..15": Samples([0, 15], [None, -1, 16, True]),
    "float": Samples([1.5, 3, -0.5], [None, True, "1.5"]),
    "any JSON": ANYTHING,
    "private(any JSON)": ANYTHING,
    "secret(any JSON)": ANYTHING,
    "null or string": Samples([None, "", "text"], [5, []]),
    "non-empty string or int": Samples(["text", -1], [None, "", []]),
    "non-empty string or list": Samples(["text", [], [1, "a"]], [None, "", 5, {}]),
    "dict of non-empty string to (non-empty string or int)": DISK,
    "dict of any key to (any JSON)": OPEN_DICT,
    "dict of any key to (private(any JSON))": OPEN_DICT,
    "dict of any key to (secret(any JSON))": OPEN_DICT,
    "IPv4 address string": Samples(["192.0.2.1"], [None, "", "192.0.2.256", "192.0.2.0/24", "::1", 5]),
    "IPv6 address string": Samples(["2001:db8::1"], [None, "", "192.0.2.1", "2001:db8::/64", 5]),
    "IPv4 CIDR network string": Samples(["192.0.2.0/24"], [None, "", "192.0.2.0", "192.0.2.0/33", "2001:db8::/64", 5]),
    "IPv6 CIDR network string": Samples(["2001:db8::/64"], [None, "", "2001:db8::", "192.0.2.0/24", 5]),
}


def samples(phrase: str) -> Samples:
    """The samples for a type as the table words it."""
    phrase = unwrapped(phrase)
    if phrase in PLAIN:
        return PLAIN[phrase]
    if phrase.startswith("maybe "):
        if "job id" in phrase:
            return Samples(
                [None, [], [[-1, ["success"]], [17, ["canceled", "error"]]]],
                [5, [[1]], [["a", []]], [[1, ["running"]]]],
            )
        inner = samples(phrase.removeprefix("maybe "))
        return Samples([None, *inner.good], [value for value in inner.bad if value is not None])
    if match := re.fullmatch(r"one of: (.*)|one of the storage types \((.*)\)", phrase):
        words = [json.loads(w) if re.fullmatch(r"-?\d+", w) else w for w in (match[1] or match[2]).split(", ")]
        return Samples(words, ["nonsense", 12345, None, [], True])
    if phrase.startswith("list of [action"):
        return changes(DISK if "non-empty string or int" in phrase else NIC)
    if phrase.startswith("list of int >= 0, or"):
        bad: list[Any] = [None, 5, [-1], [[-1, {}]], [[1]], [1, [2, {}]], [[1, {"size": None}]]]
        return Samples([[], [0, 3], [[0, {}], [1, {"size": 5}]]], bad)
    if phrase.startswith("list of [source"):
        return Samples(
            [[], [["gnt:client", "why", 1700000000000000000]]], [None, [["a", "b"]], [["a", "b", "c"]], "text"]
        )
    if match := re.fullmatch(r"(?:list|set \(JSON list\)) of (.*)", phrase):
        inner = samples(match[1])
        return Samples([[], *([value] for value in inner.good)], [None, 5, {}, *([value] for value in inner.bad)])
    if match := re.fullmatch(r"tuple \(JSON list\) of \[(one of: .*|int), (int|non-empty string)\]", phrase):
        one, two = samples(match[1]), samples(match[2])
        bad = [None, [], [one.good[0]], [one.good[0], two.good[0], two.good[0]], [one.bad[0], two.good[0]]]
        return Samples([[first, two.good[0]] for first in one.good], bad)
    if match := re.fullmatch(r"dict of (\(.*?\)|string) to (.*)", phrase):
        keys, values = samples(match[1]), samples(match[2])
        bad = [None, [], "text", *({keys.good[0]: value} for value in values.bad)]
        bad += [{key: values.good[0]} for key in keys.bad if isinstance(key, str)]
        return Samples([{}, *({key: value} for key in keys.good for value in values.good)], bad)
    raise AssertionError(f"no samples for the type {phrase!r}")


def unwrapped(phrase: str) -> str:
    """The phrase without the brackets round all of it."""
    while phrase.startswith("(") and phrase.endswith(")"):
        phrase = phrase[1:-1]
    return phrase


def changes(item: Samples) -> Samples:
    """Samples for a list of changes to disks or cards."""
    good = [[], *([["add", -1, params]] for params in item.good), [["remove", "name", {}], ["modify", 2, {}]]]
    bad = [None, 5, [["explode", 1, {}]], [["add"]], [["add", 1.5, {}]], [["add", 1, {}, {}]], [[True, {}]]]
    return Samples(good, bad + [[["add", -1, params]] for params in item.bad])


def minimal(op_id: str) -> dict[str, Any]:
    """The least that a client must send: OP_ID, the reason, and what is required."""
    params = OPCODE_FACTS[op_id]["params"]
    required = {name: samples(fact["type"]).good[-1] for name, fact in params.items() if fact["required"]}
    return {"OP_ID": op_id, "reason": [], **required}
