"""A configuration that may be given away: every secret in it is an empty text (design-2.0, "Security")."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from ganeti_tx.model import cluster, instance
from ganeti_tx.model.config_data import ConfigData, decode, encode
from ganeti_tx.model.disk import without_secrets

Object = TypeVar("Object", bound=msgspec.Struct)
BLANK = ""
SCHEME = r"[a-z][a-z0-9+.-]*://"
#: Who asks, in a URL such as that of an image: all up to the last "@", as passwords with "/", "?" or "@" are written without
#: escapes, too; and what it asks for, which may be a signature. Of a text that begins with a URL all counts, of one that has
#: a URL in it the word. This takes more than it must of a URL with "@" behind its host, and never less.
USER = re.compile(rf"(\A{SCHEME}).*@|({SCHEME})\S*@", re.IGNORECASE | re.DOTALL)
QUERY = re.compile(rf"(\A{SCHEME}[^?#]*[?#]).*|({SCHEME}[^?#\s]*[?#])\S*", re.IGNORECASE | re.DOTALL)


def with_blank_secrets(config: ConfigData) -> ConfigData:
    """The same configuration, of which the names of private parameters are left, and the shapes of disks' ids."""
    blank = msgspec.structs.replace(
        config,
        cluster=_blank(config.cluster, cluster.PRIVATE),
        instances={uuid: _blank(each, instance.PRIVATE) for uuid, each in config.instances.items()},
        disks={uuid: without_secrets(each, BLANK) for uuid, each in config.disks.items()},
    )
    return decode(msgspec.json.encode(_without_secret_urls(msgspec.json.decode(encode(blank)))))


def _blank(value: Object, private: frozenset[str]) -> Object:
    return msgspec.structs.replace(value, **{name: _emptied(getattr(value, name)) for name in private})


def _emptied(value: Any) -> Any:
    """The same tables with nothing but empty texts in them."""
    if isinstance(value, Mapping):
        return {name: _emptied(each) for name, each in value.items()}
    return BLANK


def _without_secret_urls(value: Any) -> Any:
    """The same, of JSON, without the secrets of URLs."""
    if isinstance(value, dict):
        return {name: _without_secret_urls(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_secret_urls(each) for each in value]
    return blank_urls(value) if isinstance(value, str) else value


def blank_urls(text: str) -> str:
    """A text without users, passwords and queries in its URLs."""
    return QUERY.sub(r"\1\2", USER.sub(r"\1\2@", text))
