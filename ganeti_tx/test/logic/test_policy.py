"""Tests of what the policies of groups keep out."""

from typing import Any

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.policy import check_move, check_view
from ganeti_tx.model import opcodes
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance_view import InstanceView, view_of
from ganeti_tx.model.params.ipolicy import PartialPolicy
from ganeti_tx.test.logic.stage import CONFIG, GROUP, INSTANCE, RACK2, UnitTestCase

STRICT = PartialPolicy(disk_templates=(DiskTemplate.PLAIN,))
FAULT = "violates policy: Disk template file is not allowed (allowed templates plain)"


def view() -> InstanceView:
    """The sample instance, whose disk is a file."""
    return view_of(
        INSTANCE,
        cluster=CONFIG.cluster,
        disks=CONFIG.disks,
        nodes=CONFIG.nodes,
        groups=CONFIG.nodegroups,
        networks=CONFIG.networks,
    )


class CheckTests(SynchronousTestCase):
    """Before anything is done."""

    def setUp(self) -> None:
        self.warnings: list[str] = []

    def refused(self, check: Any, *args: Any) -> OpPrereqError:
        """The refusal."""
        with self.assertRaises(OpPrereqError) as caught:
            check(*args, ignored=False, warn=self.warnings.append)
        return caught.exception

    def test_changed(self) -> None:
        """A change that the own group does not admit is refused; whoever ignores policies is warned."""
        after = replace(view(), groups={GROUP.uuid: replace(GROUP, ipolicy=STRICT)})
        error = self.refused(check_view, after)
        self.assertEqual(str(error), f"Instance allocation to group {GROUP.uuid} (default) {FAULT}")
        self.assertIs(error.ecode, ECode.INVAL)
        check_view(after, ignored=True, warn=self.warnings.append)
        self.assertEqual(
            self.warnings, [f"Instance allocation to group {GROUP.uuid} (default) {FAULT}; ignored, as asked for"]
        )

    def test_moved(self) -> None:
        """The group that it comes to is asked; within its own it goes even where it does not fit."""
        strict = replace(RACK2, ipolicy=STRICT)
        self.assertIn(f"(rack2) {FAULT}", str(self.refused(check_move, view(), strict)))
        check_move(view(), strict, ignored=True, warn=self.warnings.append)
        self.assertEqual(len(self.warnings), 1)
        own = replace(GROUP, ipolicy=STRICT)
        check_move(replace(view(), groups={own.uuid: own}), own, ignored=False, warn=self.warnings.append)


class ClusterPolicyTests(UnitTestCase):
    """A policy of the cluster counts where a group has none of its own."""

    def allow(self, template: str) -> None:
        """Have the cluster admit one template only."""
        self.run_op(opcodes.decode({"OP_ID": "OP_CLUSTER_SET_PARAMS", "ipolicy": {"disk-templates": [template]}}))

    def test_newly_violating(self) -> None:
        """Who changes it is told of the instances that fitted, once."""
        warning = "- WARNING: After the ipolicy change the following instances violate them: web1.example.com"
        self.allow("plain")
        self.assertEqual(self.stage.feedback.count(warning), 1)
        self.allow("drbd")
        self.assertEqual(self.stage.feedback.count(warning), 1)
