"""What logical units declare of their hooks, against Ganeti's table, and how failures are told."""

from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred

from ganeti_tx.errors import HooksFailure, escaped_line_ends
from ganeti_tx.jobs.hooks import HookRun
from ganeti_tx.logic.hook import HookNodes
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model import opcodes
from ganeti_tx.model.enums import DiskTemplate, TagKind
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import InstanceCreateMode, RebootType
from ganeti_tx.model.versions import NODE_PROTOCOL_VERSION
from ganeti_tx.rpc.calls.disk import BlockdevStates, DiskState
from ganeti_tx.rpc.calls.hooks import HooksRunner
from ganeti_tx.rpc.calls.node import NodeCryptoTokens, Version
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.test.logic.stage import CONFIG, UnitTestCase
from ganeti_tx.test.model.samples import NETWORK

NONE, MASTER, OBJECT, OTHERS = HookNodes.NONE, HookNodes.MASTER, HookNodes.OBJECT, HookNodes.OTHERS
BOTH, ALL = MASTER | OBJECT, OTHERS | OBJECT

#: Ganeti 3.0 hook table: the hook, its object, the nodes before and after, and its own variables. The hooks of a node that is
#: removed run there, too, before it leaves.
TABLE = {
    "OP_CLUSTER_DESTROY": ("cluster-destroy", "CLUSTER", NONE, MASTER, "OP_TARGET"),
    "OP_CLUSTER_POST_INIT": ("cluster-init", "CLUSTER", NONE, MASTER, "OP_TARGET"),
    "OP_CLUSTER_RENAME": ("cluster-rename", "CLUSTER", MASTER, ALL, "NEW_NAME OP_TARGET"),
    "OP_CLUSTER_SET_PARAMS": ("cluster-modify", "CLUSTER", MASTER, MASTER, "NEW_VG_NAME OP_TARGET"),
    "OP_GROUP_ADD": ("group-add", "GROUP", MASTER, MASTER, "GROUP_NAME"),
    "OP_GROUP_EVACUATE": ("group-evacuate", "GROUP", BOTH, BOTH, "GROUP_NAME TARGET_GROUPS"),
    "OP_GROUP_REMOVE": ("group-remove", "GROUP", MASTER, MASTER, "GROUP_NAME"),
    "OP_GROUP_RENAME": ("group-rename", "GROUP", BOTH, BOTH, "NEW_NAME OLD_NAME"),
    "OP_GROUP_SET_PARAMS": ("group-modify", "GROUP", MASTER, MASTER, "GROUP_NAME NEW_ALLOC_POLICY"),
    "OP_INSTANCE_CHANGE_GROUP": ("instance-change-group", "INSTANCE", MASTER, MASTER, "TARGET_GROUPS"),
    "OP_INSTANCE_CREATE": ("instance-add", "INSTANCE", BOTH, BOTH, "ADD_MODE"),
    "OP_INSTANCE_GROW_DISK": ("disk-grow", "INSTANCE", BOTH, BOTH, "ABSOLUTE AMOUNT DISK"),
    "OP_INSTANCE_MOVE": ("instance-move", "INSTANCE", BOTH, BOTH, "SHUTDOWN_TIMEOUT TARGET_NODE"),
    "OP_INSTANCE_REBOOT": (
        "instance-reboot",
        "INSTANCE",
        BOTH,
        BOTH,
        "IGNORE_SECONDARIES REBOOT_TYPE SHUTDOWN_TIMEOUT",
    ),
    "OP_INSTANCE_RECREATE_DISKS": ("instance-recreate-disks", "INSTANCE", BOTH, BOTH, ""),
    "OP_INSTANCE_REINSTALL": ("instance-reinstall", "INSTANCE", BOTH, BOTH, ""),
    "OP_INSTANCE_REMOVE": ("instance-remove", "INSTANCE", MASTER, BOTH, "SHUTDOWN_TIMEOUT"),
    "OP_INSTANCE_RENAME": ("instance-rename", "INSTANCE", BOTH, BOTH, "INSTANCE_NEW_NAME"),
    "OP_INSTANCE_SHUTDOWN": ("instance-stop", "INSTANCE", BOTH, BOTH, "TIMEOUT"),
    "OP_INSTANCE_STARTUP": ("instance-start", "INSTANCE", BOTH, BOTH, "FORCE"),
    "OP_NETWORK_ADD": ("network-add", "NETWORK", MASTER, MASTER, "NETWORK_NAME NETWORK_SUBNET"),
    "OP_NETWORK_REMOVE": ("network-remove", "NETWORK", MASTER, MASTER, "NETWORK_NAME"),
    "OP_NETWORK_RENAME": ("network-rename", "NETWORK", MASTER, MASTER, "NEW_NAME OLD_NAME"),
    "OP_NETWORK_SET_PARAMS": (
        "network-modify",
        "NETWORK",
        MASTER,
        MASTER,
        "NETWORK_GATEWAY NETWORK_GATEWAY6 NETWORK_MAC_PREFIX NETWORK_NAME NETWORK_SUBNET NETWORK_SUBNET6 NETWORK_TAGS",
    ),
    "OP_NODE_ADD": (
        "node-add",
        "NODE",
        OTHERS,
        ALL,
        "MASTER_CAPABLE NODE_NAME NODE_PIP NODE_SIP OP_TARGET VM_CAPABLE",
    ),
    "OP_NODE_MIGRATE": ("node-migrate", "NODE", MASTER, MASTER, "ALLOW_RUNTIME_CHANGES NODE_NAME"),
    "OP_NODE_REMOVE": ("node-remove", "NODE", OTHERS, OTHERS, "NODE_NAME OP_TARGET"),
    "OP_NODE_SET_PARAMS": (
        "node-modify",
        "NODE",
        BOTH,
        BOTH,
        "DRAINED MASTER_CANDIDATE MASTER_CAPABLE OFFLINE OP_TARGET VM_CAPABLE",
    ),
}
#: Hooked, too, but with lists of nodes or variables that depend on more; each unit has a test for them with itself.
WITH_OWN_TESTS = {
    "OP_BACKUP_EXPORT",
    "OP_CLUSTER_VERIFY_GROUP",
    "OP_INSTANCE_FAILOVER",
    "OP_INSTANCE_MIGRATE",
    "OP_INSTANCE_REPLACE_DISKS",
    "OP_INSTANCE_SET_PARAMS",
    "OP_NETWORK_CONNECT",
    "OP_NETWORK_DISCONNECT",
}
#: What hooks of every instance are told: web1's, which has one network interface and one disk in a file.
OF_INSTANCES = (
    "OP_TARGET INSTANCE_DISK0_DEV_TYPE INSTANCE_DISK0_DRIVER INSTANCE_DISK0_ID INSTANCE_DISK0_MODE INSTANCE_DISK0_SIZE"
    " INSTANCE_DISK0_UUID INSTANCE_DISK_COUNT INSTANCE_DISK_TEMPLATE INSTANCE_HYPERVISOR INSTANCE_MAXMEM"
    " INSTANCE_MEMORY INSTANCE_MINMEM INSTANCE_NAME INSTANCE_NIC0_BRIDGE INSTANCE_NIC0_IP INSTANCE_NIC0_LINK"
    " INSTANCE_NIC0_MAC INSTANCE_NIC0_MODE INSTANCE_NIC0_UUID INSTANCE_NIC0_VLAN INSTANCE_NIC_COUNT INSTANCE_OS_TYPE"
    " INSTANCE_PRIMARY INSTANCE_SECONDARIES INSTANCE_STATUS INSTANCE_TAGS INSTANCE_VCPUS"
)


def asked(op_id: str, **params: Any) -> OpCode:
    """A request as clients write it."""
    return opcodes.decode({"OP_ID": op_id, **params})


#: A request of each hooked opcode that has a unit.
REQUESTS: dict[str, OpCode] = {
    "OP_CLUSTER_DESTROY": opcodes.OpClusterDestroy(),
    "OP_CLUSTER_POST_INIT": opcodes.OpClusterPostInit(),
    "OP_CLUSTER_RENAME": opcodes.OpClusterRename(name="web2"),
    "OP_CLUSTER_SET_PARAMS": opcodes.OpClusterSetParams(),
    "OP_GROUP_ADD": opcodes.OpGroupAdd(group_name="rack2"),
    "OP_GROUP_EVACUATE": opcodes.OpGroupEvacuate(group_name="default"),
    "OP_GROUP_REMOVE": opcodes.OpGroupRemove(group_name="default"),
    "OP_GROUP_RENAME": opcodes.OpGroupRename(group_name="default", new_name="rack3"),
    "OP_GROUP_SET_PARAMS": opcodes.OpGroupSetParams(group_name="default"),
    "OP_INSTANCE_CREATE": opcodes.OpInstanceCreate(
        instance_name="web2",
        mode=InstanceCreateMode.CREATE,
        disks=({"size": "2G"},),
        disk_template=DiskTemplate.FILE,
        nics=({},),
        os_type="busybox",
        pnode="node2",
    ),
    "OP_INSTANCE_CHANGE_GROUP": opcodes.OpInstanceChangeGroup(instance_name="web1"),
    "OP_INSTANCE_GROW_DISK": opcodes.OpInstanceGrowDisk(instance_name="web1", disk=0, amount=64),
    "OP_INSTANCE_REBOOT": opcodes.OpInstanceReboot(instance_name="web1", reboot_type=RebootType.HARD),
    "OP_INSTANCE_RECREATE_DISKS": opcodes.OpInstanceRecreateDisks(instance_name="web1"),
    "OP_INSTANCE_REINSTALL": opcodes.OpInstanceReinstall(instance_name="web1"),
    "OP_INSTANCE_MOVE": opcodes.OpInstanceMove(instance_name="web1", target_node="node2"),
    "OP_INSTANCE_REMOVE": opcodes.OpInstanceRemove(instance_name="web1"),
    "OP_INSTANCE_RENAME": opcodes.OpInstanceRename(instance_name="web1", new_name="web2"),
    "OP_INSTANCE_SHUTDOWN": opcodes.OpInstanceShutdown(instance_name="web1"),
    "OP_INSTANCE_STARTUP": opcodes.OpInstanceStartup(instance_name="web1"),
    "OP_NETWORK_ADD": asked("OP_NETWORK_ADD", network_name="net", network="10.6.0.0/24"),
    "OP_NETWORK_REMOVE": asked("OP_NETWORK_REMOVE", network_name="lan"),
    "OP_NETWORK_RENAME": asked("OP_NETWORK_RENAME", network_name="lan", new_name="net"),
    "OP_NETWORK_SET_PARAMS": asked(
        "OP_NETWORK_SET_PARAMS",
        network_name="lan",
        gateway="192.0.2.1",
        network6="2001:db8::/64",
        gateway6="2001:db8::1",
        mac_prefix="aa:00:55",
    ),
    "OP_NODE_ADD": opcodes.OpNodeAdd(node_name="web2"),
    "OP_NODE_MIGRATE": opcodes.OpNodeMigrate(node_name="node2"),
    "OP_NODE_REMOVE": opcodes.OpNodeRemove(node_name="node2"),
    "OP_NODE_SET_PARAMS": opcodes.OpNodeSetParams(node_name="node2", vm_capable=False),
}


class TableTests(UnitTestCase):
    """Every unit that there is."""

    initial = replace(CONFIG, networks={NETWORK.uuid: replace(NETWORK, tags=("a",))})

    def test_declared(self) -> None:
        """Each unit declares the hook that the table has for its opcode, and no other has one."""
        declared = {
            unit.opcode.op_id(): (unit.hook.path, unit.hook.about.value, unit.hook.pre, unit.hook.post)
            for unit in UNITS.values()
            if unit.hook is not None and unit.opcode.op_id() not in WITH_OWN_TESTS
        }
        built = {kind.op_id() for kind in UNITS}
        self.assertEqual(declared, {op_id: row[:4] for op_id, row in TABLE.items() if op_id in built})
        self.assertEqual([op_id for op_id in WITH_OWN_TESTS & built if UNITS[opcodes.OPCODES[op_id]].hook is None], [])

    def test_every_variable(self) -> None:
        """The scripts of each are told all that the table names, and nothing else but parameters of the instance."""
        self.nodes.answer(Version, NODE_PROTOCOL_VERSION)
        self.nodes.answer(BlockdevStates, [DiskState()])
        self.nodes.answer(NodeCryptoTokens, [("ssl", "0" * 40), ("server", "1" * 40)])
        for op_id in sorted({kind.op_id() for kind in UNITS} & TABLE.keys()):
            told = set(self.values(REQUESTS[op_id]))
            wanted = set(TABLE[op_id][4].split())
            if TABLE[op_id][1] == HookObject.INSTANCE:
                parameters = {name for name in told if name.startswith(("INSTANCE_BE_", "INSTANCE_HV_"))}
                self.assertIn("INSTANCE_BE_maxmem", parameters)
                self.assertIn("INSTANCE_HV_acpi", parameters)
                told -= parameters
                wanted |= set(OF_INSTANCES.split())
            self.assertEqual(told, wanted, op_id)

    def values(self, op: OpCode) -> dict[str, object]:
        """What the hooks of a request are told."""
        unit: LogicalUnit[Any] = UNITS[type(op)](op, self.stage.context())
        self.successResultOf(Deferred.fromCoroutine(unit.expand_names()))
        self.successResultOf(Deferred.fromCoroutine(unit.outdated()))
        try:
            self.successResultOf(Deferred.fromCoroutine(unit.check()))
        except self.failureException:
            self.assertIn(
                op.op_id(),
                (
                    "OP_CLUSTER_DESTROY",
                    "OP_GROUP_EVACUATE",
                    "OP_GROUP_REMOVE",
                    "OP_INSTANCE_CHANGE_GROUP",
                    "OP_NODE_REMOVE",
                ),
            )  # something is left here
        return dict(self.successResultOf(Deferred.fromCoroutine(unit.hook_values())))


class RunTests(UnitTestCase):
    """The hooks around a start of web1, on nodes that have no scripts."""

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answer(HooksRunner, [])
        self.unit = UNITS[opcodes.OpInstanceStartup](REQUESTS["OP_INSTANCE_STARTUP"], self.stage.context())
        self.do(self.unit.expand_names())
        self.do(self.unit.check())
        self.hooks = HookRun(self.unit, self.stage.config, self.nodes)

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What comes of it at once."""
        return self.successResultOf(Deferred.fromCoroutine(work))

    def run_on(self) -> list[tuple[str, str, str]]:
        """Which hooks ran where."""
        return [(call.hpath, call.phase.value, node) for node, call in self.nodes.sent if isinstance(call, HooksRunner)]

    def test_order(self) -> None:
        """Before, after, and last of all that the configuration has changed, which is told of what was before only."""
        self.do(self.hooks.before())
        self.do(self.hooks.after(config_changed=True))
        node = "node1.example.com"
        wanted = [("instance-start", "pre", node), ("instance-start", "post", node), ("config-update", "post", node)]
        self.assertEqual(self.run_on(), wanted)
        before, after, update = (set(call.env) for call in self.nodes.of_kind(HooksRunner))
        self.assertEqual(before, update)
        self.assertIn("GANETI_POST_INSTANCE_STATUS", after - before)

    def test_done_is_done(self) -> None:
        """What keeps the hooks from running afterwards is told, and is no failure of the work."""
        self.do(self.hooks.before())
        self.do(self.stage.config.remove_instance("inst-uuid"))
        self.do(self.hooks.after(config_changed=True))
        self.assertEqual(len(self.run_on()), 1)
        self.assertIn("The hooks after the operation could not be run: ", self.stage.feedback[-1])

    def test_nobody_answers(self) -> None:
        """Before the work that is a failure; afterwards it is told."""
        self.nodes.fail(HooksRunner, "no answer", NodeUnreachableError)
        work = Deferred.fromCoroutine(self.hooks.before())
        self.assertIn("no answer", str(self.failureResultOf(work, HooksFailure).value))
        self.do(self.hooks.after(config_changed=False))
        self.assertIn("- WARNING: Communication failure to node node1.example.com: ", self.stage.feedback[-1])

    def test_no_hook(self) -> None:
        """A unit without a hook asks nobody anything."""
        unit = UNITS[opcodes.OpTagsGet](opcodes.OpTagsGet(kind=TagKind.CLUSTER, name=""), self.stage.context())
        asked = len(self.nodes.sent)
        hooks = HookRun(unit, self.stage.config, self.nodes)
        self.do(hooks.before())
        self.do(hooks.after(config_changed=False))
        self.assertEqual(len(self.nodes.sent), asked)


class TextTests(UnitTestCase):
    """How output is shown."""

    def test_lines(self) -> None:
        """Line ends are told as such."""
        self.assertEqual(escaped_line_ends("no start today\non stderr\n"), "no start today\\non stderr")
