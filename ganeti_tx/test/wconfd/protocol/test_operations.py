"""The table of configuration operations, walked from its first to its last: over both ends of the protocol."""

import inspect
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.merging.choices import Choices, Conflict, SameGroup
from ganeti_tx.config.merging.ports import stopped
from ganeti_tx.config.operation import Effect, Operation
from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.disk import place_of, settings_of
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.test.config.merging.clusters import other_cluster
from ganeti_tx.test.model.samples import CLUSTER, DISK, FILTER, GROUP, INSTANCE, NETWORK, NIC, NODE, NODE2, VOLUME
from ganeti_tx.test.wconfd.protocol.test_protocol import ProtocolCase
from ganeti_tx.wconfd.protocol.methods import CALLS, CONFIG_OPERATIONS, server_table
from ganeti_tx.wconfd.protocol.words import word

NEW_NIC = replace(NIC, uuid="nic2-uuid", mac="aa:00:00:00:00:02")
NEW_INSTANCE = replace(INSTANCE, uuid="new-uuid", name="web2.example.com", disks=(), nics=(NEW_NIC,))
NEW_DISK = replace(VOLUME, uuid="new-disk", logical_id=("xenvg", "new"), nodes=(NODE.uuid,))
NEW_NODE = replace(NODE, uuid="n3", name="node3.example.com", primary_ip="192.0.2.13", secondary_ip="192.0.2.13")
NEW_GROUP = replace(GROUP, uuid="group2-uuid", name="other", networks={})
NEW_NETWORK = replace(NETWORK, uuid="net2-uuid", name="wan", network="198.51.100.0/28")
OTHER_CLUSTER = stopped(other_cluster())
HALF = replace(NODE2, master_candidate=False)

#: What each operation can be asked with in the samples' cluster, as it is and in this order.
SAMPLES: Mapping[str, tuple[Any, ...]] = {
    "cluster": (),
    "node": ("node1",),
    "nodes": (["node2", NODE.uuid],),
    "group": ("default",),
    "groups": (None,),
    "instance": ("web1",),
    "instances": (),
    "instance_names": (),
    "instance_view": ("web1",),
    "everything": (),
    "instance_views": (["web1"],),
    "instances_of_node": ("node1",),
    "disks": ("web1",),
    "forthcoming_disks": (),
    "detached_disks": (),
    "network": ("lan",),
    "networks": (),
    "filters": (),
    "tags": (TagKind.CLUSTER, None),
    "ssh_setup": (),
    "verify": (),
    "generate_mac": ("lan",),
    "reserve_mac": ("aa:00:00:00:00:09",),
    "reserve_storage": ("iscsi: target=iqn.2001-05.com.example:disks, lun=3",),
    "generate_uuid": (),
    "allocate_port": (),
    "generate_ip": ("lan",),
    "reserve_ip": ("lan", "192.0.2.9", False),
    "allocate_minors": ([NODE.uuid, NODE2.uuid],),
    "generate_secret": (),
    "add_instance": (NEW_INSTANCE, [NEW_DISK]),
    "replace_instance": (replace(NEW_INSTANCE, os="other"), [NEW_DISK]),
    "update_instance": (replace(INSTANCE, os="other"),),
    "change_instance": (replace(INSTANCE, serial_no=INSTANCE.serial_no + 1, os="third"), [], [settings_of(DISK)]),
    "restore_instance": (INSTANCE, [settings_of(DISK)], []),
    "set_instance_state": (INSTANCE.uuid, AdminState.DOWN, AdminStateSource.USER, False),
    "update_disk": (replace(DISK, size=2048),),
    "add_disk": (INSTANCE.uuid, replace(NEW_DISK, uuid="disk3", logical_id=("xenvg", "third")), 0),
    "remove_disk": ("disk3",),
    "move_instance": (INSTANCE.uuid, NODE2.uuid),
    "place_instance": (INSTANCE.uuid, NODE2.uuid, [place_of(DISK)]),
    "rename_cluster": ("cluster9.example.com", "192.0.2.99"),
    "rename_instance": (NEW_INSTANCE.uuid, "web9.example.com", {}),
    "remove_instance": (NEW_INSTANCE.uuid,),
    "add_node": (NEW_NODE, "digest", "server"),
    "update_node": (HALF,),
    "change_nodes": ([replace(NEW_NODE, master_candidate=False)], {}, 1),
    "expect_certificates": ({NODE2.uuid: "next"}, {NODE2.uuid: "next"}),
    "expect_root_keys": ({NODE2.uuid: "ssh-rsa NEXT"},),
    "settle_root_keys": ({NODE2.uuid: "ssh-rsa NEXT"}, "rsa", 4096),
    "settle_certificates": ({NODE2.uuid: "next"}, {NODE2.uuid: "next"}),
    "remove_node": (NEW_NODE.uuid,),
    "add_group": (NEW_GROUP,),
    "update_group": (replace(NEW_GROUP, name="another"),),
    "remove_group": (NEW_GROUP.uuid,),
    "add_network": (NEW_NETWORK,),
    "update_network": (replace(NEW_NETWORK, name="man"),),
    "connect_network": (NEW_NETWORK.uuid, GROUP.uuid, {"mode": "bridged", "link": "br1"}),
    "disconnect_network": (NEW_NETWORK.uuid, GROUP.uuid),
    "remove_network": (NEW_NETWORK.uuid,),
    "put_filter": (replace(FILTER, uuid="rule2-uuid"),),
    "remove_filter": ("rule2-uuid",),
    "update_cluster": (None,),
    "join_cluster": (OTHER_CLUSTER, Choices(groups=SameGroup.RENAME, conflicts=Conflict.WARN)),
    "part_clusters": ([*OTHER_CLUSTER.nodes, *OTHER_CLUSTER.instances, *OTHER_CLUSTER.disks],),
    "change_tags": (TagKind.INSTANCE, "web1", ["fast"], []),
    "redistribute": (),
    "when_distributed": (),
    "undistributed": (),
    "take_over_reservations": (),
    "drop_reservations": (),
}
#: Arguments that may have any names in them.
MAPS = {
    *((each, given) for each in ("expect_certificates", "settle_certificates") for given in ("callers", "servers")),
    *((each, "keys") for each in ("expect_root_keys", "settle_root_keys")),
    ("change_nodes", "digests"),
    ("connect_network", "params"),
    ("rename_instance", "logical_ids"),
}
#: Reserve nothing: two secrets that are drawn at random are not the same; nobody of this job has died.
UNRESERVED = {"generate_secret", "take_over_reservations"}


class WalkTests(ProtocolCase):
    """Every operation, asked for as a job does."""

    def state(self) -> tuple[int, set[Any]]:
        """The configuration's serial number, and all that is reserved."""
        assert self.cluster.wconfd is not None
        reserved = msgspec.json.decode(self.cluster.wconfd.reservations.encode())
        return self.cluster.wconfd.store.snapshot.serial_no, {str(each) for each in reserved}

    def ask(self, name: str) -> Any:
        """The result of the sample's request."""
        args = SAMPLES[name] if name != "update_cluster" else (self.done(self.config.cluster()),)
        asked: Deferred[Any] = self.cluster.begin(getattr(self.config, name)(*args))
        self.cluster.advance(60.0 if not asked.called else 0.0)
        return self.successResultOf(asked)

    def test_samples(self) -> None:
        """There is one of each operation, so that the walk leaves none out."""
        self.assertEqual({each.attribute for each in CONFIG_OPERATIONS.values()}, set(SAMPLES))

    def test_reachable(self) -> None:
        """Each is done over the wire under its name, gives what it says, and has the effect that it declares."""
        operations = {each.attribute: each for each in CONFIG_OPERATIONS.values()}
        for name in SAMPLES:
            operation, (serial, reserved) = operations[name], self.state()
            asked = len(self.cluster.requests)
            result = self.ask(name)
            self.assertIn(operation.name, self.cluster.requests[asked:])
            self.assertEqual(msgspec.convert(msgspec.to_builtins(result), operation.result), result, name)
            after, held = self.state()
            if name != "redistribute":
                self.assertEqual(after > serial, operation.effect is Effect.CHANGED, name)
            if operation.effect is Effect.RESERVED:
                self.assertEqual(held != reserved, name not in UNRESERVED, name)
            elif operation.effect is not Effect.CHANGED:
                self.assertEqual(held, set() if operation.effect is Effect.GIVEN_BACK else reserved, name)

    def test_restart(self) -> None:
        """What those that reserve answer is on disk before, and its owner's after a restart; given back, it is free."""
        for operation in CONFIG_OPERATIONS.values():
            if operation.effect is Effect.RESERVED and operation.attribute not in UNRESERVED:
                self.ask_slowly(operation)
                _, reserved = self.state()
                self.restart()
                self.assertEqual(self.state()[1], reserved, operation.name)
        self.ask_slowly(IConfig.drop_reservations)
        self.restart()
        self.assertEqual(self.state()[1], set())

    def ask_slowly(self, operation: Operation[..., Any]) -> None:
        """Ask while the disk is slow: there is no answer before the disk has it."""
        files = self.cluster.files
        files.slow = True
        asked = self.cluster.begin(getattr(self.config, operation.attribute)(*SAMPLES[operation.attribute]))
        self.assertNoResult(asked)
        while files.under_way:
            files.finish()
            self.cluster.settle()
        files.slow = False
        self.successResultOf(asked)

    def restart(self) -> None:
        """Another daemon takes up what the first has left."""
        self.cluster.kill()
        self.cluster.start()

    def test_wrong_arguments(self) -> None:
        """Each argument that is of another type is refused with the operation, its name, and what it may be."""
        table = server_table()
        for name, operation in CONFIG_OPERATIONS.items():
            good = [(1, "livelock"), *msgspec.to_builtins(self.good(operation))]
            table[name].read(good)
            self.assertRaises(OpPrereqError, table[name].read, [*good, "more"])
            for index, argument in enumerate(operation.arguments, 1):
                wrong = [*good[:index], {"no": "such"}, *good[index + 1 :]]
                if (operation.attribute, argument.name) in MAPS:
                    wrong[index] = 7
                refusal = str(self.assertRaises(OpPrereqError, table[name].read, wrong))
                self.assertIn(f"{name}: {argument.name} ({word(argument.kind)}): ", refusal)

    def good(self, operation: Operation[..., Any]) -> tuple[Any, ...]:
        """All its arguments, those left out too."""
        given: tuple[Any, ...] = SAMPLES[operation.attribute] if operation.attribute != "update_cluster" else (CLUSTER,)
        return (*given, *[None] * (len(operation.arguments) - len(given)))


class TableTests(ProtocolCase):
    """What is derived."""

    def test_names(self) -> None:
        """No two methods share a name on the wire, and every operation of IConfig is served."""
        declared = [name for name, each in inspect.getmembers(IConfig) if isinstance(each, Operation)]
        self.assertEqual(len(declared), len(CONFIG_OPERATIONS))
        self.assertLessEqual(set(CONFIG_OPERATIONS), set(CALLS))
        self.assertEqual(set(server_table().names), set(CALLS))

    def test_words(self) -> None:
        """Types are named for people: what of an enumeration is allowed, what may be left out."""
        for kind, expected in (
            (str, "str"),
            (int | None, "int or null"),
            (list[str], "list of str"),
            (tuple[int, str], "[int, str]"),
            (tuple[str, ...], "list of str"),
            (Literal["a", "b"], "one of a, b"),
            (Mapping[str, str], "map of str to str"),
            (AdminState, "one of " + ", ".join(each.value for each in AdminState)),
        ):
            self.assertEqual(word(kind), expected)

    def test_documented(self) -> None:
        """Each says what it does."""
        self.assertEqual([each.name for each in CONFIG_OPERATIONS.values() if not each.__doc__], [])
