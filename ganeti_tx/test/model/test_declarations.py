"""The configuration objects are those of the table: every field, none besides, with the same presence."""

from typing import Any

import msgspec
from msgspec.structs import FieldInfo, fields
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.console import InstanceConsole
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.logical_id import types
from ganeti_tx.model.master_network import MasterNetworkParameters
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.os import OS
from ganeti_tx.model.status import BlockDevStatus, MigrationStatus
from ganeti_tx.test.model.facts_table import FACTS
from ganeti_tx.test.model.samples import CLUSTER, CONFIG, DISK, FILTER, GROUP, INSTANCE, NETWORK, NIC, NODE

OBJECTS = (Cluster, ConfigData, Disk, FilterRule, Instance, Network, Nic, Node, NodeGroup)
OTHERS = (BlockDevStatus, InstanceConsole, MasterNetworkParameters, MigrationStatus, OS)
#: What we add to them.
OWN_FIELDS: dict[type, list[str]] = {
    BlockDevStatus: ["size", "mirror"],
    Cluster: ["default_disk_size", "default_group"],
}
SAMPLES = {
    type(sample).__name__: sample for sample in (CLUSTER, CONFIG, DISK, FILTER, INSTANCE, NETWORK, NIC, NODE, GROUP)
}


def presence(field: FieldInfo) -> str:
    """What the declaration of a field says about its presence, in the words of the table."""
    if field.required:
        return "required"
    if field.default is None:
        return "optional (absent when unset)"
    if field.default is False:
        return "only written when true; then every other key except uuid-like ones may be absent"
    if field.default_factory is dict:
        return "optional, not written when empty"
    return "optional on read with a default, always written"


def fits(value: Any, kind: str) -> bool:
    """Whether an encoded value is of the type the table names, where the name decides it."""
    for prefix, wanted in (("list", list), ("dict", dict), ("bool", bool), ("int", int), ("float", float)):
        if kind.startswith(prefix):
            return isinstance(value, wanted)
    return True


class DeclarationTests(SynchronousTestCase):
    """Declarations and table, both ways."""

    def test_every_object_is_declared(self) -> None:
        """No object of the table is left out."""
        self.assertEqual({kind.__name__ for kind in OBJECTS}, set(FACTS["objects"]))

    def test_fields_and_presence(self) -> None:
        """Each object has the fields of the table with their presence, and no others."""
        for kind in OBJECTS:
            own = OWN_FIELDS.get(kind, [])
            declared = {field.encode_name: presence(field) for field in fields(kind) if field.encode_name not in own}
            facts = {name: fact["presence"] for name, fact in FACTS["objects"][kind.__name__].items()}
            self.assertEqual(declared, facts, kind.__name__)

    def test_own_fields_may_be_absent(self) -> None:
        """What we add to the objects of the configuration is in no file of Ganeti's, or of an older version of ours."""
        for kind in OBJECTS:
            required = {field.encode_name for field in fields(kind) if field.required}
            self.assertEqual(required.intersection(OWN_FIELDS.get(kind, ())), set(), kind.__name__)

    def test_types(self) -> None:
        """The sample objects are written in the types of the table."""
        for kind, sample in SAMPLES.items():
            written = msgspec.json.decode(msgspec.json.encode(sample))
            for name in written.keys() - OWN_FIELDS.get(type(sample), []):
                value = written[name]
                self.assertTrue(fits(value, FACTS["objects"][kind][name]["type"]), f"{kind}.{name}: {value!r}")

    def test_other_objects(self) -> None:
        """What nodes report has the fields of the table."""
        for kind in OTHERS:
            names = [field.encode_name for field in fields(kind)]
            own = OWN_FIELDS.get(kind, [])
            self.assertEqual(names, FACTS["other_serialized_objects"][kind.__name__] + own)

    def test_logical_ids(self) -> None:
        """Every template has the logical id of the table."""
        for template in DiskTemplate:
            parts = FACTS["logical_id_shapes"][template.value] or []
            kinds = tuple(int if part.startswith(("port", "minor")) else str for part in parts)
            self.assertEqual(types(TEMPLATES[template].logical_id), kinds)
