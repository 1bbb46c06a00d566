"""Reading and writing the whole configuration."""

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, containers, decode, encode
from ganeti_tx.test.model.samples import CONFIG, DISK, INSTANCE, NODE, VOLUME


def raw_config() -> Any:
    """The sample as dicts and lists."""
    return msgspec.json.decode(encode(CONFIG))


class RoundTripTests(SynchronousTestCase):
    """What is written is read again."""

    def test_round_trip(self) -> None:
        """Reading what was written gives an equal configuration, and writing that the same bytes."""
        data = encode(CONFIG)
        self.assertEqual(decode(data), CONFIG)
        self.assertEqual(encode(decode(data)), data)

    def test_order_does_not_matter(self) -> None:
        """Equal configurations give equal bytes, whatever order their containers were filled in."""
        turned = replace(CONFIG, nodes=dict(reversed(list(CONFIG.nodes.items()))))
        self.assertEqual(encode(turned), encode(CONFIG))

    def test_unset_is_left_out(self) -> None:
        """Unset fields have no key; fields with a default on read are written even when empty."""
        raw = raw_config()["instances"]["inst-uuid"]
        self.assertNotIn("network_port", raw)
        self.assertNotIn("forthcoming", raw)
        self.assertEqual((raw["tags"], raw["hvparams"], raw["ctime"]), ([], {}, 0.0))
        self.assertNotIn("hv_state_static", raw_config()["nodes"]["node1-uuid"])

    def test_forthcoming(self) -> None:
        """A forthcoming instance may lack all but its uuid; one that is not may not."""
        raw = raw_config()
        raw["instances"]["later"] = {"uuid": "later", "forthcoming": True}
        raw["disks"]["later-disk"] = {"uuid": "later-disk", "forthcoming": True}
        config = decode(msgspec.json.encode(raw))
        self.assertTrue(config.instances["later"].forthcoming)
        self.assertEqual(decode(encode(config)), config)
        raw["instances"]["later"]["forthcoming"] = False
        self.assertRaises(ConfigurationError, decode, msgspec.json.encode(raw))

    def test_containers(self) -> None:
        """The containers are the fields that map uuids to objects."""
        self.assertEqual(set(containers()), {"nodes", "nodegroups", "instances", "networks", "disks", "filters"})

    @given(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3), st.integers(0, 2**53))
    @settings(max_examples=50, deadline=None)
    def test_any_values(self, words: dict[str, str], serial: int) -> None:
        """Round trips keep any text and number."""
        instance = replace(INSTANCE, osparams=words, serial_no=serial, tags=tuple(words))
        config = replace(CONFIG, instances={instance.uuid: instance})
        self.assertEqual(decode(encode(config)), config)


class FaultTests(SynchronousTestCase):
    """Faults are named by their path."""

    def fault(self, raw: Any) -> str:
        """What decoding says."""
        return str(self.assertRaises(ConfigurationError, decode, msgspec.json.encode(raw)))

    def test_nested(self) -> None:
        """The path names the keys of containers and the places in lists, among many of them."""
        raw = raw_config()
        for number in range(300):
            raw["instances"][f"u{number}"] = {**raw["instances"]["inst-uuid"], "uuid": f"u{number}"}
        raw["instances"]["u217"] = msgspec.json.decode(msgspec.json.encode(raw["instances"]["u217"]))
        raw["instances"]["u217"]["nics"][0]["mac"] = 7
        self.assertEqual(self.fault(raw), "instances.u217.nics[0].mac: expected `str`, got `int`")

    def test_missing(self) -> None:
        """A missing key is named in the path."""
        raw = raw_config()
        del raw["nodes"]["node2-uuid"]["group"]
        self.assertEqual(self.fault(raw), "nodes.node2-uuid.group: missing")

    def test_unknown(self) -> None:
        """An unknown key is refused, and named."""
        raw = raw_config()
        raw["cluster"]["colour"] = "red"
        self.assertEqual(self.fault(raw), "cluster.colour: unknown key")

    def test_inner_mapping(self) -> None:
        """Mappings inside objects are named by their keys, too."""
        raw = raw_config()
        raw["nodegroups"]["group-uuid"]["networks"] = {"a": {}, "b": 5, "c": {}}
        self.assertEqual(self.fault(raw), "nodegroups.group-uuid.networks.b: expected `object`, got `int`")

    def test_key(self) -> None:
        """A key that may not be there is named."""
        raw = raw_config()
        raw["cluster"]["hvparams"] = {"kvm": {}, "vax": {}}
        self.assertEqual(self.fault(raw), "cluster.hvparams.vax: invalid enum value 'vax'")

    def test_logical_id(self) -> None:
        """A logical id must fit its template, and its secret is not shown."""
        raw = raw_config()
        raw["disks"]["disk-uuid"]["logical_id"][2] = "11000"
        fault = self.fault(raw)
        self.assertIn("disks.disk-uuid: logical_id of a drbd disk must be [str, str, int, int, int, str]", fault)
        self.assertNotIn("s3cret", fault)

    def test_not_json(self) -> None:
        """Text that is no JSON, or is no object, or is too long or too deep, is refused in one line."""
        for data in (b"{", b"\xff", b"", b"[]", b"null", b"[" * 100_000, b" " * (MAX_CONFIG_BYTES + 1)):
            error = self.assertRaises(ConfigurationError, decode, data)
            self.assertEqual(len(str(error).splitlines()), 1)

    @given(
        st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda x: st.lists(x, max_size=3), max_leaves=4)
    )
    @settings(max_examples=50, deadline=None)
    def test_any_rubbish(self, rubbish: object) -> None:
        """Whatever stands in a place gives a configuration or an error of ours."""
        for container in containers():
            raw = raw_config()
            for uuid in raw[container]:
                raw[container][uuid] = rubbish
            error = self.assertRaises(ConfigurationError, decode, msgspec.json.encode(raw))
            self.assertIn(container, str(error))


class ObjectTests(SynchronousTestCase):
    """What objects tell of themselves."""

    def test_touched(self) -> None:
        """A change raises the serial number, sets the time, and leaves the old object as it was."""
        changed = touched(NODE, 12.5)
        self.assertEqual((changed.serial_no, changed.mtime, NODE.serial_no), (2, 12.5, 1))

    def test_logical_ids(self) -> None:
        """What the parts of a logical id are is given by template; one that is not complete has none."""
        node_a, node_b, port, minor_a, minor_b, secret = DISK.logical_id or ()
        self.assertEqual(DISK.mirrors, (node_a, node_b))
        self.assertEqual(DISK.minors, ((node_a, minor_a), (node_b, minor_b)))
        self.assertEqual((DISK.ports, DISK.secrets), ((port,), (secret,)))
        unplaced = replace(DISK, forthcoming=True, logical_id=("node-uuid",))
        for disk in (VOLUME, unplaced):
            self.assertEqual((disk.mirrors, disk.minors, disk.ports, disk.secrets), ((), (), (), ()))

    def test_no_secrets_in_repr(self) -> None:
        """No private parameter and no mirror's secret shows in a repr."""
        self.assertNotIn("s3cret", repr(CONFIG))
