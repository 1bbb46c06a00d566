"""What an administrator is told of a change of the cluster's settings, beside what is refused: in Ganeti's words."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_template import Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.instance import Instance

#: Directories of which it is said that they are the ones already, and what they are called.
DIRECTORIES = {"file_storage_dir": "file", "shared_file_storage_dir": "shared file"}
COMMUNICATION = "instance_communication_network"
#: Parameters of mirrors are not those of mirrors that are there.
OF_MIRRORS = (
    "Changing DRBD parameters only affects devices created in the future, not existing ones",
    "You need to shutdown and start (not reboot!) existing instances to adopt the changes",
    "Alternatively you can swap the secondary node by running `gnt-instance replace-disks --new-secondary $instance`",
)


def same_directories(before: Cluster, given: Mapping[str, Any]) -> Iterator[str]:
    """One line for each that is given and is the cluster's already."""
    for setting, word in DIRECTORIES.items():
        if given.get(setting) and given[setting] == getattr(before, setting):
            yield f"Global {word} storage dir already set to value '{given[setting]}'"


def of_communication(before: Cluster, given: Mapping[str, Any]) -> Iterator[str]:
    """What becomes of the network by which instances talk to their nodes; nothing if it stays."""
    name, held = given.get(COMMUNICATION), before.instance_communication_network
    if name is None or name == held:
        return
    if held:
        yield f"Previous instance communication network '{held}' should be removed manually."
    if name:
        yield f"Changing instance communication network to '{name}', only new instances will be affected."
    else:
        yield "Disabling instance communication network, only new instances will be affected."


def of_mirrors(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Warnings, if parameters of templates are given whose disks nodes mirror."""
    words = given.get("diskparams") or {}
    return OF_MIRRORS if any(TEMPLATES[word].mirrored is Mirrored.INTERNALLY for word in words) else ()


def of_pool_users(after: Cluster, instances: Iterable[Instance]) -> Iterator[str]:
    """A warning, if anybody is to have a user of the cluster's pool, when there is none any more."""
    given = [("the cluster", params) for params in after.hvparams.values()]
    given += [(f"OS {os}", params) for os, layers in sorted(after.os_hvp.items()) for params in layers.values()]
    given += [(f"instance {each.name}", each.hvparams) for each in instances]
    users = [who for who, params in given if params.get("security_model") == "pool"]
    if users:
        yield (
            "without a pool of user ids nothing can be started that has security_model=pool:"
            f" {', '.join(dict.fromkeys(users))}"
        )
