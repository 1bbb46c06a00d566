"""Instance policies: before 2.8 with one minimum and one maximum side by side, of which a group might set a part."""

from typing import Any

from ganeti_tx.config.older.raw import Raw, mapping, objects

BOUNDS = ("min", "max")


def bound_in_pairs(raw: Raw) -> None:
    """A list of pairs of bounds; the policies of groups completed from the cluster's."""
    policy = mapping(mapping(raw, "cluster"), "ipolicy")
    put_together(policy, {})
    pairs = policy.get("minmax")
    first = pairs[0] if isinstance(pairs, list) and pairs and isinstance(pairs[0], dict) else {}
    for group in objects(raw, "nodegroups"):
        own = mapping(group, "ipolicy")
        own.pop("std", None)
        put_together(own, first)


def put_together(policy: Raw, usual: Raw) -> None:
    """The bounds that are set, the others as they usually are."""
    given = {bound: held for bound in BOUNDS if (held := policy.pop(bound, None))}
    if given:
        pair: Raw = {bound: {**mapping(usual, bound), **words(given.get(bound))} for bound in BOUNDS}
        policy.setdefault("minmax", [pair])


def words(held: Any) -> Raw:
    """What was set of one bound."""
    return held if isinstance(held, dict) else {}
