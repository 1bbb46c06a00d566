"""Tests of bringing instances away by jobs that an allocator finds: of a node, of a group, and of one instance."""

import json
from typing import Any

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.opcodes import OpCode, decode
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.test.logic.evacuations import MIRRORED, NODE3, SHARED, SPREAD, WEB1, migration, moved, say, with_node3
from ganeti_tx.test.logic.stage import GROUP, RACK2, UnitTestCase
from ganeti_tx.test.model.samples import NODE, NODE2

HAIL = "hail"


class EvacuationCase(UnitTestCase):
    """Sets the stage, with an allocator that answers for it."""

    initial = SHARED

    def begin(self, config: ConfigData, result: object) -> None:
        """Another configuration, and what the allocator says."""
        self.stage = self.make_stage(config)
        self.nodes = self.stage.nodes
        say(self.nodes, result)

    def asked(self) -> Any:
        """What the allocator was asked, and its options."""
        (call,) = self.nodes.of_kind(IallocatorRunner)
        return json.loads(call.idata)["request"], call.default_iallocator_params

    def submitted(self) -> list[list[OpCode]]:
        """The jobs of the one submission."""
        (jobs,) = self.stage.submitted
        return [list(job) for job in jobs]

    def locked(self, level: str) -> dict[str, str]:
        """What was held of one level."""
        return {name.split("/")[1]: mode for name, mode in self.stage.locked.items() if name.startswith(f"{level}/")}


class NodeEvacuateTests(EvacuationCase):
    """OP_NODE_EVACUATE."""

    def op(self, **params: Any) -> OpCode:
        """A request for node1's primary instances, by hail."""
        given = {"node_name": "node1", "mode": "primary-only", "iallocator": HAIL, **params}
        return decode({"OP_ID": "OP_NODE_EVACUATE", **{name: each for name, each in given.items() if each is not None}})

    def test_primaries(self) -> None:
        """Each is asked for by name; the jobs are submitted with this one's priority, and told of."""
        self.begin(SHARED, moved("default"))
        self.assertEqual(self.run_op(self.op(priority=10, ignore_soft_errors=True)), {"jobs": [(True, 100)]})
        request = {"type": "node-evacuate", "instances": [WEB1], "evac_mode": "primary-only"}
        self.assertEqual(self.asked(), (request, {"ignore-soft-errors": None}))
        self.assertEqual(self.submitted(), [[decode({**migration(), "priority": 10})]])
        self.assertEqual(
            self.stage.feedback,
            [
                f"- INFO: Evacuating instances from node '{NODE.name}': {WEB1}",
                f"- INFO: Instances to be moved: {WEB1} (to {NODE2.name})",
            ],
        )
        self.assertEqual((self.locked("instance"), self.locked("node-alloc")), ({WEB1: "shared"}, {"NAL": "shared"}))
        self.assertEqual(self.locked("node"), {NODE.uuid: "shared", NODE2.uuid: "shared"})

    def test_nobody(self) -> None:
        """Where there is none, nobody is asked."""
        self.begin(SHARED, moved("default"))
        for params in ({"node_name": "node2"}, {"mode": "secondary-only"}):
            self.assertEqual(self.run_op(self.op(**params)), {"jobs": []})
        self.assertEqual(self.nodes.of_kind(IallocatorRunner), [])

    def test_not_possible(self) -> None:
        """Whoever cannot leave is named with the reason, and nobody else leaves."""
        reason = "Instances of type file cannot be relocated"
        self.begin(SHARED, [[], [[WEB1, reason]], []])
        text = f"Unable to evacuate instances {WEB1} ({reason})"
        self.assertEqual(self.refused(self.op(), OpExecError), text)
        self.assertEqual((self.stage.feedback[-1], self.stage.submitted), (f"- WARNING: {text}", []))
        self.begin(SHARED, [[], [[WEB1, "x" * 100_000]], []])
        self.assertLess(len(self.refused(self.op(), OpExecError)), 2000)

    def test_refused(self) -> None:
        """What contradicts itself, or lacks something, is refused before anybody is asked."""
        self.begin(SHARED, moved("default"))
        for params, code, fault in (
            ({"mode": "all"}, ECode.INVAL, "it is not possible to evacuate all instances at once; specify"),
            ({"iallocator": None}, ECode.INVAL, "there is no cluster-wide default iallocator"),
            ({"remote_node": "node2"}, ECode.INVAL, "exclude each other"),
            (
                {"remote_node": "node2", "iallocator": None},
                ECode.INVAL,
                "for mode secondary-only only, not for primary",
            ),
            (
                {"remote_node": "node1", "iallocator": None, "mode": "secondary-only"},
                ECode.INVAL,
                "is the node to be evacuated",
            ),
            ({"node_name": "node9"}, ECode.NOENT, "node9"),
            ({"remote_node": "node9", "iallocator": None}, ECode.NOENT, "node9"),
        ):
            error = self.failureResultOf(self.stage.run(self.op(**params)), OpPrereqError).value
            self.assertEqual(error.ecode, code, params)
            self.assertIn(fault, str(error))
        self.assertEqual(self.nodes.of_kind(IallocatorRunner), [])

    def test_answers_that_cannot_be(self) -> None:
        """An answer that does not fit the cluster, or the question, leads to no job at all."""
        away = replace(SHARED.nodes[NODE2.uuid], drained=True, master_candidate=False)
        drained = replace(
            SHARED,
            nodes={**SHARED.nodes, NODE2.uuid: away},
            cluster=replace(SHARED.cluster, candidate_pool_size=1),
        )
        for config, result, fault in (
            (SHARED, moved("default", []), f"no job moves {WEB1}"),
            (SHARED, moved("default", [migration(instance_name="web9")]), "instance 'web9', which was not asked about"),
            (SHARED, moved("default", [migration(target_node="node9")]), "to node 'node9', which is not there"),
            (SHARED, moved("default", [migration(live="maybe")]), "live"),
            (SHARED, moved("default", [{"OP_ID": "OP_CLUSTER_DESTROY"}]), "OP_CLUSTER_DESTROY moves no instance"),
            (SHARED, moved("default", [{"OP_ID": "OP_NO"}]), "OP_NO"),
            (SHARED, [[[WEB1, "default", ["node9"]]], [], []], "there is no node 'node9'"),
            (SHARED, [[["web9", "default", []]], [], []], "were not asked about: web9"),
            (SHARED, [[], []], "were expected"),
            (SHARED, "node2", "were expected"),
            (drained, moved("default"), "is drained"),
            (SPREAD, moved("rack2"), "is in none of the groups that instances may come to"),
        ):
            self.begin(config, result)
            text = self.refused(self.op(), OpExecError)
            self.assertIn("iallocator 'hail' returned an invalid result: ", text)
            self.assertIn(fault, text)
            self.assertEqual(self.stage.submitted, [])


class SecondaryTests(EvacuationCase):
    """Second copies, for which a node may be told: web1 is mirrored from node1 to node2; node3 has nothing."""

    initial = MIRRORED

    def op(self, **params: Any) -> OpCode:
        """A request for node2's second copies, to node3."""
        return decode(
            {
                "OP_ID": "OP_NODE_EVACUATE",
                "node_name": "node2",
                "mode": "secondary-only",
                "remote_node": NODE3.name,
                **params,
            }
        )

    def test_told(self) -> None:
        """One job for each, and nobody is asked."""
        self.assertEqual(self.run_op(self.op(early_release=True)), {"jobs": [(True, 100)]})
        replacing = {
            "OP_ID": "OP_INSTANCE_REPLACE_DISKS",
            "instance_name": WEB1,
            "mode": "replace_new_secondary",
            "remote_node": NODE3.name,
        }
        self.assertEqual(self.submitted(), [[decode({**replacing, "early_release": True})]])
        self.assertEqual(self.nodes.of_kind(IallocatorRunner), [])

    def test_refused(self) -> None:
        """The primary node of one of them cannot be, nor one that takes no instances, or is in another group."""
        self.assertIn("primary node of: web1", self.refused(self.op(remote_node="node1"), OpPrereqError))
        for changes, fault in (({"offline": True}, "offline node"), ({"group": RACK2.uuid}, "in another group")):
            self.stage = self.make_stage(with_node3(**changes))
            self.assertIn(fault, self.refused(self.op(), OpPrereqError))
            self.assertEqual(self.stage.submitted, [])

    def test_found(self) -> None:
        """An allocator's choice is released early, where that was asked for; it may move the primary copy over first."""
        replacing = {
            "OP_ID": "OP_INSTANCE_REPLACE_DISKS",
            "instance_name": WEB1,
            "mode": "replace_new_secondary",
            "remote_node": NODE3.name,
            "disks": [],
        }
        migrating = {key: value for key, value in migration().items() if key != "target_node"}
        self.begin(MIRRORED, [[[WEB1, "default", [NODE.name, NODE3.name]]], [], [[migrating, replacing]]])
        op = {"OP_ID": "OP_NODE_EVACUATE", "node_name": "node2", "mode": "secondary-only", "iallocator": HAIL}
        self.run_op(decode({**op, "early_release": True}))
        self.assertEqual(self.submitted(), [[decode(migrating), decode({**replacing, "early_release": True})]])


class GroupEvacuateTests(EvacuationCase):
    """OP_GROUP_EVACUATE."""

    def op(self, **params: Any) -> OpCode:
        """A request for the default group, by hail."""
        return decode({"OP_ID": "OP_GROUP_EVACUATE", "group_name": "default", "iallocator": HAIL, **params})

    def test_moved(self) -> None:
        """Its instances are asked for, with the groups that they may come to."""
        self.begin(SPREAD, moved("rack2"))
        self.run_op(self.op(target_groups=["rack2"]))
        request = {"type": "change-group", "instances": [WEB1], "target_groups": [RACK2.uuid]}
        self.assertEqual(self.asked(), (request, {}))
        self.assertEqual(self.submitted(), [[decode(migration())]])
        self.assertEqual(self.locked("nodegroup"), {GROUP.uuid: "shared", RACK2.uuid: "shared"})

    def test_failed_over(self) -> None:
        """Without live migration, one job waits for the one before."""
        self.begin(SPREAD, moved("rack2", [migration()], [migration()]))
        self.run_op(self.op(force_failover=True, sequential=True))
        failover = {"OP_ID": "OP_INSTANCE_FAILOVER", "instance_name": WEB1, "target_node": NODE2.name}
        depends = [[-1, ["canceled", "error", "success"]]]
        self.assertEqual(self.submitted(), [[decode(failover)], [decode({**failover, "depends": depends})]])


class ChangeGroupTests(EvacuationCase):
    """OP_INSTANCE_CHANGE_GROUP."""

    def op(self, **params: Any) -> OpCode:
        """A request for web1, by hail."""
        return decode({"OP_ID": "OP_INSTANCE_CHANGE_GROUP", "instance_name": WEB1, "iallocator": HAIL, **params})

    def test_moved(self) -> None:
        """To any other group, where none is named."""
        self.begin(SPREAD, moved("rack2"))
        self.assertEqual(self.run_op(self.op()), {"jobs": [(True, 100)]})
        request = {"type": "change-group", "instances": [WEB1], "target_groups": [RACK2.uuid]}
        self.assertEqual(self.asked(), (request, {}))
        self.assertEqual(self.submitted(), [[decode(migration())]])
        self.assertEqual(
            self.stage.feedback,
            [
                f"- INFO: Instances to be moved: {WEB1} (to rack2)",
                f"- INFO: Iallocator returned 1 job(s) for changing group of instance '{WEB1}'",
            ],
        )

    def test_refused(self) -> None:
        """Its own group, none, or nobody who finds where."""
        self.begin(SPREAD, moved("rack2"))
        own = f"Can't use group(s) default as targets, they are used by the instance '{WEB1}'"
        self.assertEqual(self.refused(self.op(target_groups=["rack2", "default"]), OpPrereqError), own)
        self.assertIn("nogroup", self.refused(self.op(target_groups=["nogroup"]), OpPrereqError))
        nobody = decode({"OP_ID": "OP_INSTANCE_CHANGE_GROUP", "instance_name": WEB1})
        self.assertIn("no cluster-wide default iallocator", self.refused(nobody, OpPrereqError))
        self.begin(SHARED, moved("rack2"))
        self.assertEqual(self.refused(self.op(), OpPrereqError), "There are no possible target groups")
        self.assertEqual(self.stage.submitted, [])

    def test_strange_group(self) -> None:
        """A node in a group that was not named is not gone to."""
        three = replace(
            SPREAD, nodegroups={**SPREAD.nodegroups, "rack3-uuid": replace(RACK2, uuid="rack3-uuid", name="rack3")}
        )
        self.begin(three, moved("rack2"))
        self.assertIn("in none of the groups", self.refused(self.op(target_groups=["rack3"]), OpExecError))
