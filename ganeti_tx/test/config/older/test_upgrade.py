"""Reading configurations of every version since 2.7: what comes out is what Ganeti's own tool makes of them."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import attrs
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.upgrade import ReadConfig, read_config
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import CONFIG_VERSION, ConfigData, encode
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.params.ipolicy import fill
from ganeti_tx.model.params.kinds import types_of
from ganeti_tx.model.settings.rules import RULES
from ganeti_tx.test.config.older.facts import PRESENT, REPAIRED, VERSIONS, older, upgraded

#: The tables of parameters of which Ganeti's file has all, ours those that are set.
TABLES = ("hvparams", "ndparams", "beparams", "nicparams", "diskparams")

LXC = types_of(HYPERVISORS[Hypervisor.LXC].params)


def read(raw: Any) -> ReadConfig:
    """A configuration of dicts and lists."""
    return read_config(json.dumps(raw).encode())


def alike(config: ConfigData) -> ConfigData:
    """Without what two tools may choose as they like: uuids of what had none, which parameters are written, the time."""
    cluster = config.cluster
    tables = {name: rule.read(getattr(cluster, name)) for name in TABLES if (rule := RULES[name]).read is not None}
    lxc = Hypervisor.LXC  # of which Ganeti's tool keeps what nobody reads
    tables["hvparams"][lxc] = {name: held for name, held in tables["hvparams"][lxc].items() if name in LXC}
    collectors = {name: each for name, each in cluster.data_collectors.items() if name != "inst-status-kvm"}
    named = {
        uuid: f"{instance.name} {index}"
        for instance in config.instances.values()
        for index, uuid in enumerate(instance.disks)
    }
    return replace(
        config,
        serial_no=0,
        mtime=0.0,
        cluster=replace(
            cluster,
            **tables,
            data_collectors=collectors,
            enabled_disk_templates=tuple(sorted(cluster.enabled_disk_templates)),
            ipolicy=replace(cluster.ipolicy, disk_templates=tuple(sorted(cluster.ipolicy.disk_templates))),
        ),
        nodegroups={
            uuid: replace(group, networks={key: {"vlan": "", **params} for key, params in group.networks.items()})
            for uuid, group in config.nodegroups.items()
        },
        disks={named[uuid]: nameless(disk) for uuid, disk in config.disks.items()},
        instances={uuid: with_disks(each, named) for uuid, each in config.instances.items()},
    )


def with_disks(instance: Instance, named: dict[str, str]) -> Instance:
    """An instance whose parts have no uuids."""
    nics = tuple(replace(nic, uuid="") for nic in instance.nics)
    return replace(instance, disks=tuple(named[uuid] for uuid in instance.disks), nics=nics)


def nameless(disk: Disk) -> Disk:
    """A disk without uuids, its nodes in any order; Ganeti's tool makes parts of it now, and ours when it was made itself."""
    parts = tuple(replace(nameless(each), ctime=0.0, mtime=0.0) for each in disk.children)
    return replace(disk, uuid="", children=parts, nodes=tuple(sorted(disk.nodes)))


def leaves(held: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """What lies in dicts and lists, as text, by its path."""
    steps = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    if not steps or not held:
        yield path, repr(held)
    for step, each in steps:
        yield from leaves(each, f"{path}/{step}")


class UpgradeTests(SynchronousTestCase):
    """Every version."""

    maxDiff = None

    def test_each_version(self) -> None:
        """Nothing is wrong with the result, and it is Ganeti's."""
        for version in (*VERSIONS, REPAIRED):
            found = read(older(version))
            self.assertTrue(found.upgraded, version)
            self.assertEqual(verify(found.config), [], version)
            ganetis = read(upgraded(version))
            self.assertFalse(ganetis.upgraded)
            mine, theirs = (dict(leaves(json.loads(encode(alike(each.config))))) for each in (found, ganetis))
            self.assertEqual(sorted(mine.items() ^ theirs.items()), [], version)

    def test_same_for_all_readers(self) -> None:
        """Two who read the same old text have the same configuration; read again it is no older one."""
        for version in (*VERSIONS, REPAIRED):
            first, second = read(older(version)).config, read(older(version)).config
            self.assertEqual(first, second, version)
            self.assertEqual(read_config(encode(first)), ReadConfig(first, CONFIG_VERSION))

    def test_present(self) -> None:
        """What Ganeti 3.0.2 has written is taken as it is."""
        for raw in (older(PRESENT), upgraded(PRESENT)):
            found = read(raw)
            self.assertEqual((found.upgraded, verify(found.config)), (False, []))
            written = json.loads(encode(found.config))["cluster"]
            # else the step back to a version without the key would be barred to those, too, who never used it
            self.assertEqual(written.keys() - raw["cluster"].keys(), {"default_group"})

    def test_whole_numbers(self) -> None:
        """A whole number may be written as a float, anywhere; one with a fraction is none."""
        raw = older(PRESENT)
        self.assertIsInstance(raw["cluster"]["data_collectors"]["lv"]["interval"], float)
        raw["cluster"]["highest_used_port"] = 11003.0
        raw["cluster"]["uid_pool"] = [[4000.0, 4010.0]]
        disk = next(each for each in raw["disks"].values() if each["dev_type"] == "drbd")
        disk["logical_id"][2:5] = [11002.0, 0.0, 1.0]
        disk["children"][0]["size"] = 1024.0
        config = read(raw).config
        self.assertEqual(config.cluster.uid_pool, ((4000, 4010),))
        self.assertNotIn(b"11003.0", encode(config))
        self.assertEqual(config.disks[disk["uuid"]].minors[1][1], 1)
        raw["cluster"]["highest_used_port"] = 11003.5
        error = self.assertRaises(ConfigurationError, read, raw)
        self.assertEqual(str(error), "cluster.highest_used_port: expected `int`, got `float`")

    def test_all_as_floats(self) -> None:
        """Whatever number an older version wrote with a fraction of nothing, the configuration is the same."""
        for version in (*VERSIONS, REPAIRED):
            raw = older(version)
            self.assertEqual(read(as_floats(raw)), read(raw), version)
            self.assertEqual(encode(read(as_floats(raw)).config), encode(read(raw).config), version)
        self.assertEqual(read(older(PRESENT) | {"version": float(CONFIG_VERSION)}).version, CONFIG_VERSION)
        error = self.assertRaises(ConfigurationError, read, older(PRESENT) | {"version": 2160000.5})
        self.assertIn("its version is 2160000.5, and not a whole number", str(error))

    def test_unknown_keys(self) -> None:
        """A key of an older version that none knows any more is dropped, and told; in the present one nothing is dropped."""
        for version in (*VERSIONS, PRESENT):
            raw = older(version)
            node = next(iter(raw["nodes"].values()))
            instance = next(each for each in raw["instances"].values() if each["nics"])
            raw["cluster"]["gone"], node["gone"], instance["nics"][0]["gone"] = 7, {"a": 1}, None
            if version == PRESENT:
                error = self.assertRaises(ConfigurationError, read, raw)
                self.assertEqual(str(error), "cluster.gone: unknown key")
                continue
            found = read(raw)
            self.assertEqual(attrs.evolve(found, dropped=()), read(older(version)), version)
            paths = {f"nodes.{node['uuid']}.gone", f"instances.{instance['uuid']}.nics[0].gone", "cluster.gone"}
            self.assertEqual(set(found.dropped), paths, version)

    def test_unknown_parameters(self) -> None:
        """Parameters that no hypervisor takes any more are dropped, as an instance could not be started with them."""
        raw = older("2.13")
        self.assertIn("lxc_devices", raw["cluster"]["hvparams"]["lxc"])
        instance = next(iter(raw["instances"].values()))
        instance["hvparams"] = {"acpi": False, "gone": 1, "migration_mode": "live"}
        config = read(raw).config
        self.assertNotIn("lxc_devices", config.cluster.hvparams["lxc"])  # type: ignore[index]
        self.assertEqual(config.instances[instance["uuid"]].hvparams, {"acpi": False})

    def test_of_the_cluster_only(self) -> None:
        """Parameters that only the cluster sets are dropped from instances and operating systems of the present version, too."""
        raw = older(PRESENT)
        instance = next(iter(raw["instances"].values()))
        instance["hvparams"] = {"acpi": False, "migration_port": 1}
        raw["cluster"]["os_hvp"] = {"busybox": {"kvm": {"migration_bandwidth": 1, "acpi": True}}}
        config = read(raw).config
        self.assertEqual(config.instances[instance["uuid"]].hvparams, {"acpi": False})
        self.assertEqual(config.cluster.os_hvp["busybox"], {Hypervisor.KVM: {"acpi": True}})
        self.assertEqual(verify(config), [])

    def test_part_of_a_policy(self) -> None:
        """What a group has not bounded is bounded as in the cluster."""
        raw = older("2.7")
        group = next(iter(raw["nodegroups"].values()))
        group["ipolicy"] = {"min": {"memory-size": 100}, "max": {}, "std": {}}
        config = read(raw).config
        policy = fill(config.cluster.ipolicy, config.nodegroups[group["uuid"]].ipolicy)
        (bounds,) = policy.minmax
        self.assertEqual((bounds.min.memory_size, bounds.min.disk_size, bounds.max.disk_size), (100, 512, 262144))
        self.assertEqual(policy.std, config.cluster.ipolicy.std)

    def test_private_parameters(self) -> None:
        """Secrets of operating systems outlive the upgrade."""
        raw = older("2.16")
        raw["cluster"]["osparams_private_cluster"] = {"cedar": {"key": "s3cret"}}
        instance = next(iter(raw["instances"].values()))
        instance["osparams_private"] = {"key": "t0p"}
        config = read(raw).config
        self.assertEqual(config.cluster.osparams_private_cluster, {"cedar": {"key": "s3cret"}})
        self.assertEqual(config.instances[instance["uuid"]].osparams_private, {"key": "t0p"})

    def test_nodes_of_a_mirror(self) -> None:
        """What stands in the place of a mirror's nodes is told, though the volumes below it have theirs from there."""
        raw = older("2.14")
        for disk in raw["disks"].values():
            disk["nodes"] = 7
            for child in disk.get("children", ()):
                child.pop("nodes", None)
        self.assertRegex(str(self.assertRaises(ConfigurationError, read, raw)), r"^disks\.[^ ]*nodes: expected `array`")

    def test_anything(self) -> None:
        """Whatever a key holds instead of what it should, it is read or refused, in one line."""
        whole = older("2.7")
        for wrong in (None, 5, "text", [], [7], {"a": 7}, True):
            for path in places(whole):
                raw = copy.deepcopy(whole)
                put(raw, path, wrong)
                try:
                    read(raw)
                except ConfigurationError as error:
                    self.assertEqual(len(str(error).splitlines()), 1, path)


def as_floats(held: Any) -> Any:
    """With every number as a float."""
    if isinstance(held, dict):
        return {key: as_floats(each) for key, each in held.items()}
    if isinstance(held, list):
        return [as_floats(each) for each in held]
    return float(held) if isinstance(held, int) and not isinstance(held, bool) else held


def places(held: Any, below: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something lies, down to the fourth level of keys."""
    if len(below) > 4 or not isinstance(held, dict | list):
        return [below] if below else []
    steps = list(held.items()) if isinstance(held, dict) else list(enumerate(held))
    inner = [place for step, each in steps for place in places(each, (*below, step))]
    return [below, *inner] if below else inner


def put(raw: Any, path: tuple[Any, ...], value: Any) -> None:
    """Something else at a place."""
    for step in path[:-1]:
        raw = raw[step]
    raw[path[-1]] = value
