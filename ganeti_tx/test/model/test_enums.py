"""The closed sets of words are those of Ganeti 3.0."""

import json
from enum import StrEnum
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model import enums

FACTS = json.loads((Path(__file__).parent / "facts" / "enums.json").read_text())

TABLE: dict[str, type[StrEnum]] = {
    "admin_state_sources": enums.AdminStateSource,
    "admin_states": enums.AdminState,
    "alloc_policies": enums.AllocPolicy,
    "disk_templates": enums.DiskTemplate,
    "file_drivers": enums.FileDriver,
    "hypervisors": enums.Hypervisor,
    "nic_modes": enums.NicMode,
    "storage_types": enums.StorageType,
    "tag_kinds": enums.TagKind,
}


class EnumTests(SynchronousTestCase):
    """Members against the table."""

    def test_same_words(self) -> None:
        """Each set has the words of the table in its order, and each word compares equal to its string."""
        for name, words in TABLE.items():
            self.assertEqual([*words], FACTS[name], name)

    def test_every_set_is_in_the_table(self) -> None:
        """No set of words is left unchecked."""
        declared = {
            item for item in vars(enums).values() if isinstance(item, type) and item.__module__ == enums.__name__
        }
        self.assertEqual(declared, set(TABLE.values()))
