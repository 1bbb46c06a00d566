"""What is distributed, and what is known of each node that gets it."""

import attrs
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.config.ssh_files import ssh_setup
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.ssh_setup import SshSetup
from ganeti_tx.runtime.rapi_files import RapiFiles


@attrs.frozen
class State:
    """One version of the configuration, in the forms in which it travels."""

    config: ConfigData
    data: bytes
    ssconf: dict[str, str]
    #: None when there never were any.
    rapi_files: RapiFiles | None
    #: None when nothing is known of SSH.
    ssh: SshSetup | None

    @property
    def serial(self) -> int:
        """The configuration's serial number, which orders the versions."""
        return self.config.serial_no

    @classmethod
    def of(cls, config: ConfigData, data: bytes, rapi_files: RapiFiles | None) -> "State":
        """The forms of a version."""
        return cls(config, data, ssconf_values(config), rapi_files, ssh_setup(config))


@attrs.define(eq=False)
class NodeCopies:
    """What is known of one node: up to which version it was served or tried, and what it has.

    One that is `overdue` did not answer while somebody waited; nobody waits for it until it has taken something.
    """

    tried: int = 0
    failures: int = 0
    overdue: bool = False
    has_config: int = 0
    has_ssconf: dict[str, str] | None = None
    #: None when nobody knows which.
    has_rapi_files: RapiFiles | None = None
    has_ssh: object = None
    has_keys: bool = False
    round: int = 0
    work: Deferred[None] | None = None
    retry: IDelayedCall | None = None
    #: Why the last transfer failed.
    why: str = ""

    def forget(self) -> None:
        """Who knows what the node has when it comes back."""
        self.stop_timer()
        self.tried = self.failures = 0
        self.overdue = False
        self.distrust()

    def distrust(self) -> None:
        """The node may not have any more what it was sent."""
        self.has_config = 0
        self.has_ssconf = self.has_rapi_files = self.has_ssh = None
        self.has_keys = False

    def stop_timer(self) -> None:
        """There is no need to try again by the clock."""
        if self.retry is not None and self.retry.active():
            self.retry.cancel()
        self.retry = None
