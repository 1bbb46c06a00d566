"""Which rows come, in which order, what nodes are asked for them, and what is told when nodes say nothing."""

from typing import Any

from twisted.internet.defer import Deferred

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.query.collect import MAX_FIELDS
from ganeti_tx.query.language.cell import NO_DATA, OFFLINE, UNAVAILABLE
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, InstanceConsoles, RunningInstance
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageSpace
from ganeti_tx.rpc.interfaces import NodeUnreachableError, Target
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.query.case import QueryCase
from ganeti_tx.test.query.facts_table import FACTS

WEB1 = "web1.example.com"
ON_1, ON_2 = {"primary_node": "node1-uuid"}, {"primary_node": "node2-uuid"}


class RowTests(QueryCase):
    """Rows and their order."""

    def setUp(self) -> None:
        """Names whose natural order is not that of their characters, and one short name that two instances share."""
        super().setUp()
        for name in ("web10.example.com", "web2.example.com", "web2.example.org", "app"):
            self.add_instance(name)

    def test_natural_order(self) -> None:
        """Without names asked for, rows stand in natural order."""
        expected = ["app", WEB1, "web2.example.com", "web2.example.org", "web10.example.com"]
        self.assertEqual(self.names("instance"), expected)

    def test_asked_order(self) -> None:
        """A filter of nothing but names gives the rows in the order asked; names may be short or uuids."""
        asked = ["|", ["=", "name", "web10"], ["==", "name", "app"], ["=", "name", "inst-uuid"]]
        self.assertEqual(self.names("instance", asked), ["web10.example.com", "app", WEB1])
        self.assertEqual(self.names("instance", ["=", "name", "WEB10"]), ["web10.example.com"])

    def test_asked_twice(self) -> None:
        """An item asked for twice, whatever the spelling, is one row."""
        asked = ["|", ["=", "name", "web1"], ["=", "name", "web1"], ["=", "name", WEB1]]
        self.assertEqual(self.names("instance", asked), [WEB1])

    def test_nested_names(self) -> None:
        """Names may be asked for in nested terms; none asked for gives no row."""
        asked = ["|", ["|", ["=", "name", "web10"]], ["&", ["=", "name", "app"]]]
        self.assertEqual(self.names("instance", asked), ["web10.example.com", "app"])
        self.assertEqual(self.names("instance", ["|"]), [])

    def test_unknown_name(self) -> None:
        """An unknown name among nothing but names is an error that names it."""
        for condition in (["=", "name", "nobody"], ["|", ["=", "name", "app"], ["=", "name", "nobody"]]):
            self.refuses(ECode.NOENT, "instance", ["name"], condition)
        self.assertIn(
            "name nobody not found", str(self.refusal(OpPrereqError, "instance", ["name"], ["=", "name", "nobody"]))
        )

    def test_unknown_name_anywhere(self) -> None:
        """So it is for everything of the configuration."""
        for what in ("instance", "node", "group", "network", "filter"):
            key = self.queries.resources[what].name_field
            self.refuses(ECode.NOENT, what, [key], ["=", key, "nobody"])

    def test_unknown_name_in_a_filter(self) -> None:
        """As soon as the filter says anything else, an unknown name matches nothing."""
        for condition in (
            ["|", ["=", "name", "nobody"], ["=", "os", "nothing"]],
            ["&", ["=", "name", "nobody"], ["?", "name"]],
        ):
            self.assertEqual(self.names("instance", condition), [])
        self.assertEqual(len(self.names("instance", ["!=", "name", "nobody"])), 5)

    def test_ambiguous_name(self) -> None:
        """A short name of several is an error alone, and matches all of them in a filter."""
        self.refuses(ECode.INVAL, "instance", ["name"], ["=", "name", "web2"])
        condition = ["&", ["=", "name", "web2"], ["?", "name"]]
        self.assertEqual(self.names("instance", condition), ["web2.example.com", "web2.example.org"])

    def test_field_order(self) -> None:
        """Fields come as asked, as often as asked; unknown ones say so in each row."""
        names = ["os", "name", "bogus", "os"]
        answer = self.successResultOf(self.queries.query("instance", names, ["=", "name", "web1"]))
        self.assertEqual([field["name"] for field in answer["fields"]], names)
        self.assertEqual(answer["fields"][2]["kind"], "unknown")
        os = (0, "debian+default")
        self.assertEqual(answer["data"], [(os, (0, WEB1), (1, None), os)])

    def test_no_fields(self) -> None:
        """Without fields each item is an empty row."""
        self.assertEqual(self.ask("instance", []), [()] * 5)

    def test_too_many_fields(self) -> None:
        """The number of fields has a limit."""
        self.assertEqual(len(self.ask("group", ["name"] * MAX_FIELDS)[0]), MAX_FIELDS)
        self.refuses(ECode.INVAL, "group", ["name"] * (MAX_FIELDS + 1))

    def test_new_configuration(self) -> None:
        """A query sees the newest configuration."""
        self.names("instance")
        self.add_instance("zoo")
        self.assertEqual(self.names("instance")[-2:], ["web10.example.com", "zoo"])

    def test_resources(self) -> None:
        """What only jobs can tell of and what is unknown is refused."""
        for what in FACTS["of_jobs"]:
            self.assertEqual(type(self.refusal(GenericError, what, ["name"])), GenericError)
        self.refuses(ECode.INVAL, "planet", ["name"])


class ClassicTests(QueryCase):
    """The calls of old."""

    def test_rows(self) -> None:
        """Rows are plain values, null for whatever is not normal."""
        self.assertEqual(self.classic("instance", [], ["name", "network_port", "oper_ram"]), [[WEB1, None, None]])

    def test_items(self) -> None:
        """Items come in natural order, however they are asked for, each once; unknown and ambiguous ones are left out."""
        self.add_instance("app.a")
        self.add_instance("app.b")
        asked = ["nobody", "web1", "app", "app.b", WEB1, "inst-uuid", "app.a"]
        self.assertEqual(self.classic("instance", asked, ["name"]), [["app.a"], ["app.b"], [WEB1]])

    def test_nobody_left(self) -> None:
        """When all names are unknown there is no row."""
        for what in ("instance", "node", "group", "network", "filter"):
            self.assertEqual(self.classic(what, ["nobody"], []), [])

    def test_unknown_field(self) -> None:
        """An unknown field is an error."""
        error = self.failureResultOf(self.queries.classic("node", [], ["name", "bogus"]), OpPrereqError).value
        self.assertEqual((error.ecode, "'bogus'" in str(error)), (ECode.INVAL, True))

    def test_live(self) -> None:
        """Live fields are asked of the nodes here as well, of those that matter."""
        self.rpc.answer(NodeInfo, NodeFacts(boot_id="b", storage=[], hypervisors={"kvm": {"memory_free": 5}}))
        self.assertEqual(self.classic("node", ["node2"], ["name", "mfree"]), [["node2.example.com", 5]])
        self.assertEqual([node for node, _ in self.rpc.sent], ["node2.example.com"])


class CallTests(QueryCase):
    """Which nodes are asked."""

    def setUp(self) -> None:
        """Two more nodes with an instance each."""
        super().setUp()
        for number in (3, 4):
            self.add_node(f"node{number}.example.com")
            self.add_instance(f"app{number}", primary_node=f"node{number}-uuid")

    def asked(self) -> list[str]:
        """The nodes asked so far by their short names."""
        return sorted(node.split(".")[0] for node, _ in self.rpc.sent)

    def test_nothing_live(self) -> None:
        """Without a live field no node is asked, whatever else is."""
        for what, resource in self.queries.resources.items():
            still = [name for name, field in resource.fields.items() if not field.live]
            if still:
                self.ask(what, still)
                self.ask(what, still, ["?", still[0]])
        self.assertEqual(self.rpc.sent, [])

    def test_each_once(self) -> None:
        """All live fields together cost one call a node."""
        live = [name for name, field in self.queries.resources["node"].fields.items() if field.live]
        self.ask("node", live * 2)
        self.assertEqual(self.asked(), ["node1", "node2", "node3", "node4"])

    def test_named(self) -> None:
        """For named instances their primary and secondary nodes are asked."""
        self.ask("instance", ["status"], ["=", "name", "app3"])
        self.assertEqual(self.asked(), ["node3"])
        self.ask("instance", ["status"], ["=", "name", "web1"])
        self.assertEqual(self.asked(), ["node1", "node2", "node3"])

    def test_filtered(self) -> None:
        """A filter that needs no node is used before any is asked."""
        self.ask("instance", ["status"], ["=~", "name", "4$"])
        self.assertEqual(self.asked(), ["node4"])

    def test_filtered_live(self) -> None:
        """Of a filter that needs nodes the rest is used before they are asked."""
        self.rpc.answer(AllInstancesInfo, {"app4": RunningInstance(1, 1, 0, 0.0)})
        found = self.names("instance", ["&", ["=~", "name", "^app"], ["==", "status", "running"]])
        self.assertEqual((found, self.asked()), (["app4"], ["node3", "node4"]))

    def test_live_filter_alone(self) -> None:
        """A field in the filter is asked for although it is not shown."""
        self.rpc.answer(NodeInfo, NodeFacts(boot_id="b", storage=[], hypervisors={"kvm": {"memory_free": 5}}))
        self.assertEqual(self.names("node", [">", "mfree", 5]), [])
        self.assertEqual(len(self.names("node", [">", "mfree", 4])), 4)

    def test_no_rows(self) -> None:
        """When no row is left no node is asked."""
        self.assertEqual(self.ask("instance", ["status"], ["=", "os", "none"]), [])
        self.assertEqual(self.ask("instance", ["name"], ["&", ["=", "os", "none"], ["?", "oper_state"]]), [])
        self.assertEqual(self.rpc.sent, [])

    def test_hypervisors(self) -> None:
        """Nodes are asked for the hypervisors of the instances in question."""
        self.ask("instance", ["status"])
        self.assertEqual({tuple(call.hypervisors) for call in self.rpc.of_kind(AllInstancesInfo)}, {("kvm",)})

    def test_not_vm_capable(self) -> None:
        """A node that runs no instances is not asked, and its live fields are not there."""
        self.change_node("node3-uuid", vm_capable=False)
        cells = dict(zip(self.names("node"), self.column("node", "mfree"), strict=True))
        self.assertEqual(self.asked(), ["node1", "node2", "node4"])
        self.assertEqual(cells["node3.example.com"], UNAVAILABLE)


class WaitingRpc(FakeNodeRpc):
    """Keeps every answer back until the test lets it go."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Deferred[None]] = []

    async def call(self, node: Target, call: Any, timeout: float | None = None) -> Any:
        """As the fake, later."""
        answer = await super().call(node, call, timeout)
        if isinstance(call, InstanceConsoles):
            self.waiting.append(Deferred())
            await self.waiting[-1]
        return answer


#: A console that every hypervisor but few may have.
MESSAGE = {"kind": "msg", "message": "there is none"}


class ConsoleTests(QueryCase):
    """Consoles, which each node tells for all of its instances at once."""

    def setUp(self) -> None:
        """Two instances on the first node, one on the second; the first node runs one of its own, the second its one."""
        super().setUp()
        self.rpc = self.slow = WaitingRpc()
        self.queries = self.make_queries()
        self.add_instance("app1", **ON_1)
        self.add_instance("app2", **ON_2)
        self.rpc.answer(AllInstancesInfo, {name: RunningInstance(1, 1, 0, 0.0) for name in ("app1", "app2")})
        self.rpc.answers[InstanceConsoles] = lambda node, call: {each.name: MESSAGE for each in call.instances}

    def test_at_the_same_time(self) -> None:
        """Nodes are asked at the same time, each for the instances that run there alone."""
        asking = Deferred.fromCoroutine(self.queries.query("instance", ["name", "console"], None))
        self.assertNoResult(asking)
        asked = [(node.split(".")[0], call) for node, call in self.rpc.sent if isinstance(call, InstanceConsoles)]
        found = sorted((node, [each.name for each in call.instances]) for node, call in asked)
        self.assertEqual(found, [("node1", ["app1"]), ("node2", ["app2"])])
        while self.slow.waiting:
            self.slow.waiting.pop().callback(None)
        data = self.successResultOf(asking)["data"]
        consoles = [(0, {"instance": name, **MESSAGE}) for name in ("app1", "app2")]
        self.assertEqual([cell for _name, cell in data], [*consoles, UNAVAILABLE])

    def test_shut_down(self) -> None:
        """One that its user shut down has no console, and nobody is asked for it."""
        self.rpc.answer(AllInstancesInfo, {"app1": RunningInstance(1, 1, 1, 0.0)})
        self.assertEqual(self.column("instance", "console"), [UNAVAILABLE] * 3)
        self.assertEqual(self.rpc.of_kind(InstanceConsoles), [])

    def test_not_needed(self) -> None:
        """Nobody is asked for consoles as long as none are to be shown."""
        self.ask("instance", ["status"])
        self.assertEqual(self.rpc.of_kind(InstanceConsoles), [])

    def test_refused(self) -> None:
        """A node that does not tell is no error."""
        self.rpc.fail(InstanceConsoles, "no such hypervisor")
        self.assertEqual(self.column("instance", "console"), [NO_DATA, NO_DATA, UNAVAILABLE])

    def test_one_call(self) -> None:
        """A node that runs several is asked once; of what it cannot tell there is no data."""
        self.add_instance("app3", **ON_1)
        self.rpc.answer(AllInstancesInfo, {name: RunningInstance(1, 1, 0, 0.0) for name in ("app1", "app3")})
        self.rpc.answer(InstanceConsoles, {"app3": MESSAGE})
        asking = Deferred.fromCoroutine(self.queries.query("instance", ["console"], None))
        (waiting,) = self.slow.waiting
        waiting.callback(None)
        cells = [cell for (cell,) in self.successResultOf(asking)["data"]]
        self.assertEqual(cells, [NO_DATA, UNAVAILABLE, (0, {"instance": "app3", **MESSAGE}), UNAVAILABLE])

    def test_untrue(self) -> None:
        """What a node may not say of a console is told to nobody, and the others of it are."""
        self.add_instance("app3", **ON_1)
        self.rpc.answer(AllInstancesInfo, {name: RunningInstance(1, 1, 0, 0.0) for name in ("app1", "app3")})
        lie = {"kind": "ssh", "host": "node2.example.com", "user": "-oProxyCommand=id", "command": ["sh", "-c", "id"]}
        self.rpc.answer(InstanceConsoles, {"app1": lie, "app3": {**MESSAGE, "instance": "app1", "host": "elsewhere"}})
        asking = Deferred.fromCoroutine(self.queries.query("instance", ["console"], None))
        self.slow.waiting.pop().callback(None)
        cells = [cell for (cell,) in self.successResultOf(asking)["data"]]
        self.assertEqual(cells, [NO_DATA, UNAVAILABLE, (0, {"instance": "app3", **MESSAGE}), UNAVAILABLE])

    def test_only_what_matters(self) -> None:
        """The call holds nothing that is private."""
        self.assertNoResult(Deferred.fromCoroutine(self.queries.query("instance", ["console"], None)))
        specs = [each for call in self.rpc.of_kind(InstanceConsoles) for each in call.instances]
        self.assertEqual([(spec.osparams_private, spec.disks) for spec in specs], [({}, [])] * 2)


class SilentNodeTests(QueryCase):
    """What is told of nodes that tell nothing."""

    #: These put the silence into words.
    IN_WORDS = frozenset({"status"})

    def live(self, what: str) -> list[str]:
        """The live fields that have a status of their own."""
        fields = self.queries.resources[what].fields
        return [name for name, field in fields.items() if field.live and name not in self.IN_WORDS]

    def assert_all(self, expected: object) -> None:
        """Every live field of the instance on node1, and of node1, has this cell."""
        self.change_cluster(volume_group_name="xenvg")
        for what, name in (("instance", "web1"), ("node", "node1")):
            (row,) = self.ask(what, self.live(what), ["=", "name", name])
            self.assertEqual(dict(zip(self.live(what), row, strict=True)), dict.fromkeys(self.live(what), expected))

    def test_offline(self) -> None:
        """Of a node that is marked offline every live field says so, and nothing is sent to it."""
        self.change_node("node1-uuid", offline=True)
        self.assert_all(OFFLINE)
        self.assertNotIn("node1.example.com", [node for node, _ in self.rpc.sent])

    def test_unreachable(self) -> None:
        """Of a node that does not answer there is no data."""
        for kind in (AllInstancesInfo, NodeInfo):
            self.rpc.fail(kind, "connection refused", NodeUnreachableError)
        self.assert_all(NO_DATA)

    def test_failing(self) -> None:
        """Nor of a node whose call fails."""
        for kind in (AllInstancesInfo, NodeInfo):
            self.rpc.fail(kind, "no hypervisor")
        self.assert_all(NO_DATA)

    def test_one_of_two(self) -> None:
        """A silent node takes nothing from what the others tell."""
        facts = NodeFacts("b", [StorageSpace("lvm-vg", "xenvg", 10, 4)], {})

        def answer(node: str, call: object) -> NodeFacts:
            if node == "node1.example.com":
                raise NodeUnreachableError("node1 is away")
            return facts

        self.rpc.answers[NodeInfo] = answer
        self.assertEqual(self.column("node", "bootid"), [NO_DATA, (0, "b")])

    def test_passes_filters(self) -> None:
        """An item without data passes a filter on it."""
        self.change_node("node1-uuid", offline=True)
        self.assertEqual(self.names("instance", [">", "oper_ram", 10**6]), [WEB1])
