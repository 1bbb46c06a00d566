"""What the things that have tags are called in requests, by the nouns of the programs."""

CLUSTER = "cluster"
#: Kinds that are not called as their program is.
KINDS = {"group": "nodegroup"}


def kind_of(noun: str) -> str:
    """The kind of what a program is about: "gnt-group" has the noun "group"."""
    return KINDS.get(noun, noun)
