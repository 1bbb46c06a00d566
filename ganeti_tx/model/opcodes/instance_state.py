"""Opcodes that start and stop instances."""

from ganeti_tx.model.enums import AdminStateSource
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.types import (
    DEFAULT_SHUTDOWN_TIMEOUT,
    NonEmpty,
    Params,
    RebootType,
    Seconds,
)


class OpInstanceStartup(OpCode, tag="OP_INSTANCE_STARTUP"):
    """Start an instance on its primary node."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    force: bool = False
    ignore_offline_nodes: bool = False
    hvparams: Params = {}
    beparams: Params = {}
    no_remember: bool = False
    startup_paused: bool = False
    shutdown_timeout: Seconds = DEFAULT_SHUTDOWN_TIMEOUT


class OpInstanceShutdown(OpCode, tag="OP_INSTANCE_SHUTDOWN"):
    """Stop an instance, by force after the timeout."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    force: bool = False
    ignore_offline_nodes: bool = False
    timeout: Seconds = DEFAULT_SHUTDOWN_TIMEOUT
    no_remember: bool = False
    admin_state_source: AdminStateSource | None = None


class OpInstanceReboot(OpCode, tag="OP_INSTANCE_REBOOT"):
    """Restart an instance on its primary node."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    shutdown_timeout: Seconds = DEFAULT_SHUTDOWN_TIMEOUT
    ignore_secondaries: bool = False
    reboot_type: RebootType
