"""A configuration with other names, addresses, volumes and systems, and without secrets, in any of its layouts."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.tools.sanitize.addresses import OtherAddresses
from ganeti_tx.tools.sanitize.secret_values import without_secrets

Document = dict[str, Any]
#: That of a volume has its group, pool or provider, and its name; that of a file or device has a path instead of a name.
VOLUME_PARTS, VOLUME_NAME = 2, 1
#: What a name may consist of; an occurrence between two of these is part of another one.
NAME = "[A-Za-z0-9.-]"
#: Where systems are named, as keys or in lists.
OS_TABLES = ("osparams", "os_hvp")
OS_LISTS = ("hidden_os", "blacklisted_os")
VARIANT = "+"


@frozen
class Wishes:
    """What is to be replaced."""

    names: bool = True
    addresses: bool = True
    volumes: bool = True
    systems: bool = True
    domain: str = "example.com"


@frozen
class Replacing:
    """One run: `fresh` gives a word for the place of a thing of some kind in the order in which they come."""

    wishes: Wishes
    fresh: Callable[[str, int], str]
    other: OtherAddresses

    def of(self, document: Document) -> Document:
        """The configuration to show."""
        whole: dict[str, str] = {}
        if self.wishes.systems:
            whole |= self._numbered("os", systems_of(document))
        if self.wishes.volumes:
            whole |= self._numbered("lv", volumes_of(document))
        names = self._names(document) if self.wishes.names else {}
        found: Document = self._in(without_secrets(document), whole, names, pattern_of(names))
        return found

    def _numbered(self, kind: str, olds: Iterable[str]) -> dict[str, str]:
        return {old: self.fresh(kind, number) for number, old in enumerate(dict.fromkeys(olds), 1)}

    def _names(self, document: Document) -> dict[str, str]:
        cluster = document.get("cluster", {}).get("cluster_name")
        kinds = {
            "cluster": [cluster] if cluster else [],
            "node": named(document, "nodes"),
            "instance": named(document, "instances"),
        }
        return {
            old: f"{new}.{self.wishes.domain}"
            for kind, olds in kinds.items()
            for old, new in self._numbered(kind, olds).items()
        }

    def _in(self, value: Any, whole: Mapping[str, str], names: Mapping[str, str], pattern: re.Pattern[str]) -> Any:
        if isinstance(value, dict):
            return {
                self._text(key, whole, names, pattern): self._in(inner, whole, names, pattern)
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._in(inner, whole, names, pattern) for inner in value]
        return self._text(value, whole, names, pattern) if isinstance(value, str) else value

    def _text(self, text: str, whole: Mapping[str, str], names: Mapping[str, str], pattern: re.Pattern[str]) -> str:
        base, plus, variant = text.partition(VARIANT)
        group, slash, volume = text.rpartition("/")
        if base in whole:
            return f"{whole[base]}{plus}{variant}"
        if slash and volume in whole:
            return f"{group}/{whole[volume]}"
        changed = pattern.sub(lambda match: names[match[0]], text)
        return self.other.in_text(changed) if self.wishes.addresses else changed


def pattern_of(names: Iterable[str]) -> re.Pattern[str]:
    """Finds them where they are whole, the longer ones first; without names, nothing."""
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(f"(?<!{NAME})(?:{words})(?!{NAME})" if words else "(?!)")


def named(document: Document, table: str) -> list[str]:
    """The names of the objects of a table; before 2.7 they were its keys alone."""
    return [item.get("name", key) for key, item in document.get(table, {}).items()]


def systems_of(document: Document) -> Iterator[str]:
    """Without their variants."""
    cluster = document.get("cluster", {})
    full = [item.get("os") for item in document.get("instances", {}).values()]
    full += [name for table in OS_TABLES for name in cluster.get(table) or {}]
    full += [name for table in OS_LISTS for name in cluster.get(table) or []]
    return (name.partition(VARIANT)[0] for name in full if name)


def volumes_of(document: Document) -> Iterator[str]:
    """Of all disks, wherever a layout has them."""
    for disk in disks_in(document):
        place = disk["logical_id"]
        if len(place) == VOLUME_PARTS and not place[VOLUME_NAME].startswith("/"):
            yield place[VOLUME_NAME]


def disks_in(value: Any) -> Iterator[Document]:
    """Every object that is a disk or part of one."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and "dev_type" in value and isinstance(value.get("logical_id"), list):
        yield value
    for each in inner:
        yield from disks_in(each)
