"""The disk templates: each module declares the one that it is named after, as TEMPLATE."""

from collections.abc import Mapping
from importlib import import_module

from ganeti_tx.model.declared import module_of
from ganeti_tx.model.disk_template import Template
from ganeti_tx.model.enums import DiskTemplate


def declared(word: DiskTemplate) -> Template:
    """The declaration of a template."""
    template = import_module(f"{__name__}.{module_of(word)}").TEMPLATE
    assert isinstance(template, Template), word
    return template


TEMPLATES: Mapping[DiskTemplate, Template] = {word: declared(word) for word in DiskTemplate}
#: Those that a node has a driver for, in the order in which clusters prefer them: an instance gets the first that is
#: enabled if nobody says otherwise, so it has disks, and such as can be made without being told of what.
AVAILABLE = tuple(
    sorted(
        (word for word, template in TEMPLATES.items() if template.available),
        key=lambda word: (bool(TEMPLATES[word].needs), not TEMPLATES[word].has_disks, word),
    )
)
#: Those of them that a new cluster enables of its own accord: where the pool of one is something that an administrator can
#: choose for each disk or names by a parameter, or has servers of its own, he has made it before, and says so.
UNASKED = tuple(
    word
    for word in AVAILABLE
    if not TEMPLATES[word].needs and not TEMPLATES[word].pool_keys and TEMPLATES[word].pool_param is None
    if not TEMPLATES[word].served
)
#: What an instance is said to have that has no disks.
WITHOUT_DISKS = next(word for word, template in TEMPLATES.items() if not template.has_disks)
#: What Ganeti enables in a cluster that says nothing of templates.
BY_DEFAULT = tuple(word for word, template in TEMPLATES.items() if template.by_default)


def driven_by(driver: str) -> list[DiskTemplate]:
    """The templates that a package below node/storage has the driver of."""
    return [word for word, template in TEMPLATES.items() if template.driver == driver]
