"""What is told of instances."""

from itertools import product
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.model.enums import AdminState, AdminStateSource, DiskTemplate, Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.query.fields_instance import LIVE_FIELDS
from ganeti_tx.query.language.cell import UNAVAILABLE
from ganeti_tx.query.language.field import Need
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, InstanceConsoles, RunningInstance
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.model.samples import DISK, NIC, VOLUME
from ganeti_tx.test.query.case import QueryCase

WEB1 = "web1.example.com"
NODE1, NODE2 = "node1.example.com", "node2.example.com"
UP, DOWN, OFF = AdminState.UP, AdminState.DOWN, AdminState.OFFLINE
ADMIN, USER = AdminStateSource.ADMIN, AdminStateSource.USER
RUNS = RunningInstance(memory=512, vcpus=2, state=0, time=1.5)
SHUT_DOWN = replace(RUNS, state=1)


class StatusTests(QueryCase):
    """The status in one word, from what is wanted and what is seen."""

    def status(self, state: AdminState, source: AdminStateSource = ADMIN, **seen: RunningInstance) -> str:
        """The status when the nodes see this: `node1` is the primary, `node2` the secondary."""
        self.change_instance(admin_state=state, admin_state_source=source)
        self.rpc.answers[AllInstancesInfo] = lambda node, call: (
            {WEB1: seen[node.split(".")[0]]} if node.split(".")[0] in seen else {}
        )
        ((status, word),) = self.column("instance", "status")
        self.assertEqual(status, 0)
        return str(word)

    def test_running(self) -> None:
        """It should run and does, or should not and does."""
        self.assertEqual(self.status(UP, node1=RUNS), "running")
        for state, source in product((DOWN, OFF), (ADMIN, USER)):
            self.assertEqual(self.status(state, source, node1=RUNS), "ERROR_up")

    def test_stopped(self) -> None:
        """It does not run: by mistake, by the administrator's wish, by its user's."""
        self.assertEqual(self.status(UP), "ERROR_down")
        self.assertEqual(self.status(UP, USER), "ERROR_down")
        self.assertEqual(self.status(DOWN), "ADMIN_down")
        self.assertEqual(self.status(DOWN, USER), "USER_down")
        self.assertEqual(self.status(OFF), "ADMIN_offline")
        self.assertEqual(self.status(OFF, USER), "ADMIN_offline")

    def test_shut_down_by_its_user(self) -> None:
        """Its user shut it down and it was not cleaned away yet."""
        self.assertEqual(self.status(UP, node1=SHUT_DOWN), "USER_down")
        self.assertEqual(self.status(DOWN, node1=SHUT_DOWN), "ADMIN_down")
        self.assertEqual(self.status(DOWN, USER, node1=SHUT_DOWN), "USER_down")

    def test_halted(self) -> None:
        """Its hypervisor has stopped it after an error: it is there, but does not run."""
        halted = RunningInstance(memory=512, vcpus=2, state=2, time=1.5, why="io-error")
        self.assertEqual(self.status(UP, node1=halted), "ERROR_halted")
        self.assertEqual(self.status(DOWN, node1=halted), "ERROR_up")
        ((_, runs),) = self.column("instance", "oper_state")
        self.assertFalse(runs)

    def test_elsewhere(self) -> None:
        """It runs on its secondary node, whatever it should do."""
        for state in (UP, DOWN, OFF):
            self.assertEqual(self.status(state, node2=RUNS), "ERROR_wrongnode")
        self.assertEqual(self.status(UP, node1=RUNS, node2=RUNS), "running")
        self.assertEqual(self.status(UP, node2=SHUT_DOWN), "ERROR_down")

    def test_node_silent(self) -> None:
        """Its primary node is down, or marked offline, whatever the instance should do."""
        self.rpc.fail(AllInstancesInfo, "timeout", NodeUnreachableError)
        for state in (UP, DOWN, OFF):
            self.change_instance(admin_state=state)
            self.assertEqual(self.column("instance", "status"), [(0, "ERROR_nodedown")])
        self.change_node("node1-uuid", offline=True)
        self.assertEqual(self.column("instance", "status"), [(0, "ERROR_nodeoffline")])

    def test_secondary_silent(self) -> None:
        """A silent secondary node changes nothing."""
        self.change_node("node2-uuid", offline=True)
        self.assertEqual(self.status(UP, node1=RUNS), "running")

    def test_reserved(self) -> None:
        """One that is only reserved, without a node, is down."""
        self.change_instance(primary_node="", disks=(), forthcoming=True, admin_state=DOWN)
        self.assertEqual(
            self.ask("instance", ["status", "pnode", "oper_state", "pnode.group"])[0][0], (0, "ADMIN_down")
        )
        self.assertEqual(self.ask("instance", ["pnode", "oper_ram", "pnode.group"]), [(UNAVAILABLE,) * 3])


class RunningTests(QueryCase):
    """What the node says of a running instance."""

    FIELDS = ("oper_state", "oper_ram", "oper_vcpus")

    def test_running(self) -> None:
        """Its state and its size."""
        self.rpc.answer(AllInstancesInfo, {WEB1: RUNS})
        self.assertEqual(self.ask("instance", self.FIELDS), [((0, True), (0, 512), (0, 2))])

    def test_stopped(self) -> None:
        """One that does not run, or was shut down by its user, has no size."""
        for answer in ({}, {WEB1: SHUT_DOWN}):
            self.rpc.answer(AllInstancesInfo, answer)
            self.assertEqual(self.ask("instance", self.FIELDS), [((0, False), UNAVAILABLE, UNAVAILABLE)])


class PlaceTests(QueryCase):
    """Where an instance is."""

    def test_nodes(self) -> None:
        """Nodes and their groups by name and uuid; the mirror's other node is the secondary one."""
        fields = ["pnode", "pnode.group", "pnode.group.uuid", "snodes", "snodes.group", "snodes.group.uuid"]
        expected = [NODE1, "default", "group-uuid", [NODE2], ["default"], ["group-uuid"]]
        self.assertEqual(self.classic("instance", [], fields), [expected])

    def test_moved(self) -> None:
        """After a move the roles are swapped, not the disk's id."""
        self.change_instance(primary_node="node2-uuid")
        self.assertEqual(self.classic("instance", [], ["pnode", "snodes"]), [[NODE2, [NODE1]]])

    def test_not_mirrored(self) -> None:
        """Without a mirror there is no secondary node."""
        self.change_instance(disks=())
        self.assertEqual(self.classic("instance", [], ["snodes", "snodes.group"]), [[[], []]])


class StoredTests(QueryCase):
    """What the configuration holds."""

    def test_plain(self) -> None:
        """Stored settings come as they are, times and counters included."""
        self.change_instance(network_port=11000, tags=("a", "b"), serial_no=7, ctime=1.5, mtime=2.5)
        fields = {
            "name": WEB1,
            "uuid": "inst-uuid",
            "admin_state": "up",
            "admin_state_source": "admin",
            "admin_up": True,
            "disks_active": True,
            "forthcoming": False,
            "hypervisor": "kvm",
            "os": "debian+default",
            "network_port": 11000,
            "tags": ("a", "b"),
            "serial_no": 7,
            "ctime": 1.5,
            "mtime": 2.5,
        }
        self.assertEqual(self.classic("instance", [], [*fields]), [[*fields.values()]])

    def test_no_secret(self) -> None:
        """No field gives away private parameters or the mirror's secret."""
        self.assertNotIn("s3cret", repr(self.ask("instance", [*self.queries.resources["instance"].fields])))


class DiskTests(QueryCase):
    """Fields of disks."""

    def with_disks(self, **disks: Any) -> None:
        """Give the sample these disks: each the changes to a logical volume."""
        made = {uuid: replace(VOLUME, uuid=uuid, **changes) for uuid, changes in disks.items()}
        self.config = replace(self.config, disks={**self.config.disks, **made})
        self.change_instance(disks=tuple(made))

    def test_indexed(self) -> None:
        """Each disk has fields of its own; what is not there is unavailable."""
        self.with_disks(a={"size": 100, "name": "root", "spindles": 2}, b={"size": 200})
        of_both = [f"disk.{what}/{index}" for what in ("size", "name", "spindles", "uuid") for index in (0, 1, 2)]
        expected = [100, 200, None, "root", None, None, 2, None, None, "a", "b", None]
        self.assertEqual(self.classic("instance", [], of_both), [expected])
        self.assertEqual(self.ask("instance", ["disk.size/2", "disk.name/1"]), [(UNAVAILABLE, UNAVAILABLE)])

    def test_lists(self) -> None:
        """The lists hold all disks, null where one has no such value."""
        self.with_disks(a={"size": 100, "name": "root"}, b={"size": 200, "spindles": 1})
        fields = ["disk.count", "disk.sizes", "disk.names", "disk.spindles", "disk.uuids"]
        expected = [2, [100, 200], ["root", None], [None, 1], ["a", "b"]]
        self.assertEqual(self.classic("instance", [], fields), [expected])

    def test_last(self) -> None:
        """Sixteen disks have fields of their own."""
        self.with_disks(**{f"d{index}": {"size": index} for index in range(16)})
        self.assertEqual(self.classic("instance", [], ["disk.size/15"]), [[15]])
        self.assertEqual(self.column("instance", "disk.size/16"), [(1, None)])

    def test_template(self) -> None:
        """The template of all disks, mixed when they differ, diskless without any."""
        self.assertEqual(self.classic("instance", [], ["disk_template"]), [["drbd"]])
        self.with_disks(a={}, b={"dev_type": DiskTemplate.FILE})
        self.assertEqual(self.classic("instance", [], ["disk_template"]), [["mixed"]])
        self.with_disks(a={})
        self.assertEqual(self.classic("instance", [], ["disk_template"]), [["plain"]])
        self.change_instance(disks=())
        self.assertEqual(self.classic("instance", [], ["disk_template", "disk_usage"]), [["diskless", 0]])

    def test_usage(self) -> None:
        """A mirror takes 128 MiB besides its size; an adopted device takes nothing."""
        self.assertEqual(self.classic("instance", [], ["disk_usage"]), [[DISK.size + 128]])
        self.with_disks(a={"size": 100}, b={"size": 50, "dev_type": DiskTemplate.BLOCKDEV})
        self.assertEqual(self.classic("instance", [], ["disk_usage"]), [[100]])


class NicTests(QueryCase):
    """Fields of network interfaces."""

    def setUp(self) -> None:
        """A bridged interface in a network and a routed one."""
        super().setUp()
        params = {"mode": "routed", "link": "table5", "vlan": ".7"}
        first = replace(NIC, ip="192.0.2.3", name="eth", network="net-uuid")
        self.change_instance(nics=(first, replace(NIC, uuid="second", mac="aa:00:00:00:00:02", nicparams=params)))
        self.change_cluster(nicparams={"default": {"link": "br7"}})

    def test_indexed(self) -> None:
        """Each interface has fields of its own, with the parameters filled; only a bridged one has a bridge."""
        expected = {
            "bridge": ("br7", None),
            "ip": ("192.0.2.3", None),
            "link": ("br7", "table5"),
            "mac": ("aa:00:00:00:00:01", "aa:00:00:00:00:02"),
            "mode": ("bridged", "routed"),
            "name": ("eth", None),
            "network": ("net-uuid", None),
            "network.name": ("lan", None),
            "uuid": ("nic-uuid", "second"),
            "vlan": ("", ".7"),
        }
        for what, (first, second) in expected.items():
            found = self.classic("instance", [], [f"nic.{what}/0", f"nic.{what}/1", f"nic.{what}/2"])
            self.assertEqual(found, [[first, second, None]], what)

    def test_lists(self) -> None:
        """The lists hold all interfaces."""
        fields = {
            "nic.count": 2,
            "nic.bridges": ["br7", None],
            "nic.ips": ["192.0.2.3", None],
            "nic.links": ["br7", "table5"],
            "nic.macs": ["aa:00:00:00:00:01", "aa:00:00:00:00:02"],
            "nic.modes": ["bridged", "routed"],
            "nic.names": ["eth", None],
            "nic.networks": ["net-uuid", None],
            "nic.networks.names": ["lan", None],
            "nic.uuids": ["nic-uuid", "second"],
            "nic.vlans": ["", ".7"],
            "custom_nicparams": [{}, {"mode": "routed", "link": "table5", "vlan": ".7"}],
        }
        self.assertEqual(self.classic("instance", [], [*fields]), [[*fields.values()]])

    def test_last(self) -> None:
        """Eight interfaces have fields of their own."""
        self.assertEqual(self.ask("instance", ["nic.mac/7", "nic.mac/8"]), [(UNAVAILABLE, (1, None))])


class ParameterTests(QueryCase):
    """Parameters of the backend, the hypervisor and the OS."""

    def test_backend(self) -> None:
        """Built-in values, under the cluster's, under the instance's own."""
        self.change_cluster(beparams={"default": {"minmem": 256, "maxmem": 512}})
        self.change_instance(beparams={"maxmem": 1024})
        fields = ["be/vcpus", "vcpus", "be/minmem", "be/maxmem", "be/memory", "custom_beparams"]
        self.assertEqual(self.classic("instance", [], fields), [[1, 1, 256, 1024, 1024, {"maxmem": 1024}]])
        ((filled,),) = self.classic("instance", [], ["beparams"])
        for key, value in filled.items():
            self.assertEqual(self.classic("instance", [], [f"be/{key}"]), [[value]])

    def test_hypervisor(self) -> None:
        """Built-in values, under the cluster's, under those of the OS, under the instance's own."""
        self.change_cluster(os_hvp={"debian": {Hypervisor.KVM: {"boot_order": "cdrom", "kernel_args": "quiet"}}})
        self.change_instance(hvparams={"kernel_args": "single"})
        fields = ["hv/acpi", "hv/boot_order", "hv/kernel_args", "hv/usb_mouse", "custom_hvparams"]
        expected = [False, "cdrom", "single", "", {"kernel_args": "single"}]
        self.assertEqual(self.classic("instance", [], fields), [expected])

    def test_hypervisor_filled(self) -> None:
        """Each has the value of the whole set, or what is so while nobody sets it; those of other hypervisors are unavailable."""
        ((filled,),) = self.classic("instance", [], ["hvparams"])
        filled = {**HYPERVISORS[Hypervisor.KVM].unset, **filled}
        self.assertEqual(self.classic("instance", [], ["hv/migration_tls", "hv/uefi"]), [[True, False]])
        fields = [name for name in self.queries.resources["instance"].fields if name.startswith("hv/")]
        (row,) = self.classic("instance", [], fields)
        self.assertEqual(dict(zip(fields, row, strict=True)), {name: filled.get(name[3:]) for name in fields})
        self.assertEqual(self.column("instance", "hv/bootloader_path"), [UNAVAILABLE])
        self.assertEqual(self.column("instance", "hv/migration_mode"), [(1, None)])

    def test_hypervisor_of_the_cluster_alone(self) -> None:
        """What no instance can set is not shown with one, though one has it from an older version."""
        self.change_instance(hvparams={"migration_mode": "live", "acpi": True})
        ((filled, own),) = self.classic("instance", [], ["hvparams", "custom_hvparams"])
        self.assertNotIn("migration_mode", filled)
        self.assertEqual(own, {"acpi": True})

    def test_os(self) -> None:
        """Those of the OS, under its variant's, under the instance's own; private ones never show."""
        self.change_cluster(osparams={"debian": {"a": "1", "b": "1"}, "debian+default": {"b": "2", "c": "2"}})
        self.change_instance(osparams={"c": "3"})
        expected = [{"a": "1", "b": "2", "c": "3"}, {"c": "3"}]
        self.assertEqual(self.classic("instance", [], ["osparams", "custom_osparams"]), [expected])


class SpellingTests(QueryCase):
    """Names of parameters as design-2.0 spells them."""

    def test_same_values(self) -> None:
        """Each parameter has the same cell under both names, by which it is found in the answer; filters take both."""
        self.add_instance("app", hypervisor=Hypervisor.FAKE, beparams={"vcpus": 3})
        for other, proper in (("hvparam/", "hv/"), ("beparam/", "be/")):
            names = [name for name in self.queries.resources["instance"].fields if name.startswith(proper)]
            spelled = [other + name.removeprefix(proper) for name in names]
            self.assertEqual(self.ask("instance", names), self.ask("instance", spelled))
            self.assertEqual([each["name"] for each in self.queries.fields("instance", spelled)["fields"]], spelled)
            kinds = [
                [each["kind"] for each in self.queries.fields("instance", asked)["fields"]]
                for asked in (names, spelled)
            ]
            self.assertEqual(*kinds)
        self.assertEqual(self.names("instance", [">", "beparam/vcpus", 2]), ["app"])
        self.assertEqual(self.classic("instance", ["app"], ["beparam/vcpus", "be/vcpus"]), [[3, 3]])

    def test_nothing_else(self) -> None:
        """They are not listed, and no other name is taken."""
        self.assertNotIn("hvparam/acpi", list(self.queries.resources["instance"].fields))
        for name in ("hvparam/colour", "beparam/", "hvparam", "be/nosuch", "hvparam/hv/acpi", "beparam/acpi"):
            self.assertEqual(self.queries.fields("instance", [name])["fields"][0]["kind"], "unknown", name)


class LiveColumnTests(QueryCase):
    """Columns of what nodes tell are made all at once."""

    def test_as_one_by_one(self) -> None:
        """Each cell is the same as when it is read alone, as filters read them, whatever its node told or did not."""
        more: list[dict[str, Any]] = [{}, {"admin_state": UP}, {"primary_node": "node2-uuid"}, {"primary_node": ""}]
        for number, changes in enumerate(more):
            self.add_instance(f"more{number}.example.com", **changes)
        self.rpc.answers[AllInstancesInfo] = lambda node, call: {WEB1: RUNS, "more1.example.com": SHUT_DOWN}
        self.rpc.answers[InstanceConsoles] = lambda node, call: {each.name: {"kind": "msg"} for each in call.instances}
        rows, context = self.successResultOf(Deferred.fromCoroutine(self.told()))
        self.assertEqual(len(rows), 5)
        for field in LIVE_FIELDS:
            get = field.bind(context)
            self.assertEqual(field.column(context, rows), [get(row) for row in rows], field.name)

    async def told(self) -> Any:
        """All instances, and what nodes tell of them."""
        instances: Any = self.queries.resources["instance"]
        rows, context = await instances.rows(None, frozenset(), strict=False)
        needs = frozenset({Need.INSTANCES, Need.CONSOLES})
        return rows, await instances.collect(rows, context, needs)
