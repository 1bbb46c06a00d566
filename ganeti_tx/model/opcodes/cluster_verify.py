"""Opcodes that check the cluster against its configuration."""

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import NonEmpty, OptionalCheck
from ganeti_tx.model.verify_codes import VerifyCode


class OpClusterVerify(OpCode, tag="OP_CLUSTER_VERIFY"):
    """Submit one job for the configuration and one for each group to be checked."""

    debug_simulate_errors: bool = False
    error_codes: bool = False
    skip_checks: frozenset[OptionalCheck] = frozenset()
    ignore_errors: frozenset[VerifyCode] = frozenset()
    verbose: bool = False
    group_name: NonEmpty | None = None
    verify_clutter: bool = False


class OpClusterVerifyConfig(OpCode, tag="OP_CLUSTER_VERIFY_CONFIG"):
    """Check the configuration and the cluster's certificates."""

    debug_simulate_errors: bool = False
    error_codes: bool = False
    ignore_errors: frozenset[VerifyCode] = frozenset()
    verbose: bool = False


class OpClusterVerifyGroup(OpCode, tag="OP_CLUSTER_VERIFY_GROUP"):
    """Check the nodes and instances of one group."""

    summary_field = "group_name"

    group_name: NonEmpty
    debug_simulate_errors: bool = False
    error_codes: bool = False
    skip_checks: frozenset[OptionalCheck] = frozenset()
    ignore_errors: frozenset[VerifyCode] = frozenset()
    verbose: bool = False
    verify_clutter: bool = False


class OpClusterVerifyDisks(OpCode, tag="OP_CLUSTER_VERIFY_DISKS"):
    """Submit one job for each group to look for broken disks."""

    group_name: NonEmpty | None = None
