"""Where disks are, for people."""

from collections.abc import Iterable

from ganeti_tx.model.instance import Instance


def places_of_disks(instances: Iterable[Instance]) -> dict[str, str]:
    """Whose the disks are, by their uuids; those that no instance has are left out."""
    return {
        uuid: f"disk/{index} of instance {instance.name or instance.uuid}"
        for instance in instances
        for index, uuid in enumerate(instance.disks)
    }
