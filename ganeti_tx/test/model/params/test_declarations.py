"""The parameters are those of the table: every name, none besides, with type and built-in value."""

from collections.abc import Mapping
from typing import Any

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.hypervisors import CLUSTER_ONLY, HYPERVISORS
from ganeti_tx.model.params import disk
from ganeti_tx.model.params.backend import BackendParams
from ganeti_tx.model.params.ipolicy import InstancePolicy
from ganeti_tx.model.params.kinds import Size, defaults_of, types_of
from ganeti_tx.model.params.nic import NicParams
from ganeti_tx.model.params.node import GLOBAL_ONLY, NodeParams
from ganeti_tx.test.model.facts_table import FACTS
from ganeti_tx.test.model.samples import CLUSTER, DISK

TYPES: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "string": str,
    "string or null": str | None,
    "size (MiB)": Size,
}


class DeclarationTests(SynchronousTestCase):
    """Declarations and table, both ways."""

    def same(self, kind: type[msgspec.Struct], facts: Mapping[str, Any]) -> None:
        """A struct declares exactly what the table holds; what is ours is unset, so that it is in no configuration by itself."""
        self.assertEqual(dict(defaults_of(kind)), {name: fact["default"] for name, fact in facts.items()})
        ours = {name: declared for name, declared in types_of(kind).items() if name in defaults_of(kind)}
        self.assertEqual(ours, {name: TYPES[fact["type"]] for name, fact in facts.items()})

    def test_hypervisors(self) -> None:
        """Each hypervisor has its parameters, and those for the cluster only are known."""
        self.assertEqual(set(HYPERVISORS), set(FACTS["hypervisor_params"]))
        for kind, facts in FACTS["hypervisor_params"].items():
            self.same(HYPERVISORS[Hypervisor(kind)].params, facts)
            only = {name for name, fact in facts.items() if fact["global_only"]}
            self.assertEqual(only, CLUSTER_ONLY & set(facts))
        self.assertEqual(CLUSTER_ONLY, set(FACTS["hv_global_params"]))

    def test_others(self) -> None:
        """So have instances, NICs and nodes."""
        self.same(BackendParams, FACTS["backend_params"])
        self.same(NicParams, FACTS["nic_params"])
        self.same(NodeParams, FACTS["node_params"])
        self.assertEqual(GLOBAL_ONLY, {name for name, fact in FACTS["node_params"].items() if fact["global_only"]})

    def test_disks(self) -> None:
        """So has each disk template; what reaches the node is named as the table says."""
        self.assertEqual(set(TEMPLATES), set(FACTS["disk_template_params"]))
        for template, facts in FACTS["disk_template_params"].items():
            self.same(TEMPLATES[DiskTemplate(template)].params, facts)
        filled = disk.fill_diskparams(CLUSTER)
        mirror = disk.with_params(DISK, filled)
        logical = {name: fact["default"] for name, fact in FACTS["logical_disk_params"]["drbd"].items()}
        self.assertEqual(mirror.params, logical)
        self.assertEqual([child.params for child in mirror.children], [{"stripes": 1}, {"stripes": 1}])

    def test_policy(self) -> None:
        """The policy that a cluster begins with is the table's."""
        self.assertEqual(msgspec.json.decode(msgspec.json.encode(InstancePolicy())), FACTS["ipolicy"]["defaults"])
