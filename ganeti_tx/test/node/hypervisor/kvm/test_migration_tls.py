"""What a QEMU is given for an encrypted migration, and that nothing of it stays."""

import os
from pathlib import Path
from typing import Any, cast

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.kvm import key_agreement
from ganeti_tx.node.hypervisor.kvm.host_devices import IHostDevices
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.migration_tls import CREDENTIALS, SENDS, WAITS, MigrationKeys
from ganeti_tx.node.hypervisor.kvm.parameters import kvm_params
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, PATHS, kvm_spec
from ganeti_tx.test.real.migration_pairs import pairs

LAYOUT = instance_layout(PATHS, NAME)
DIRECTORY = PATHS.kvm_keys_dir / NAME
LIMIT = 10_000


@define
class Asked:
    """A QEMU that notes which files there are when it is to read them."""

    files: MemoryFiles
    read: dict[str, bytes] = field(factory=dict)

    async def execute(self, command: str, _arguments: object = None, **_more: object) -> Any:
        """See `QmpClient`."""
        if command == "object-add":
            self.read = {name: self.files.read(DIRECTORY / name, LIMIT) for name in self.files.listdir(DIRECTORY)}
        return {"qom-list": [], "add-fd": {"fd": 3, "fdset-id": 1}}.get(command)


class NoDirectory:
    """In place of `IHostDevices`."""

    def open_directory(self, _path: Path) -> int:
        """A descriptor of something."""
        return os.open(os.devnull, os.O_RDONLY)


class MigrationKeysTests(SynchronousTestCase):
    """Both sides."""

    def read_by(self, side: str) -> dict[str, bytes]:
        """The files that QEMU finds."""
        files = MemoryFiles()
        files.mkdir(PATHS.kvm_keys_dir.parent)
        asked = Asked(files)
        keys = MigrationKeys(files, cast(IHostDevices, NoDirectory()))
        given = keys.give(cast(QmpClient, asked), LAYOUT, kvm_params(kvm_spec().hvparams), side, pairs()[0])
        self.assertEqual(self.successResultOf(Deferred.fromCoroutine(given)), CREDENTIALS)
        self.assertEqual(files.listdir(PATHS.kvm_keys_dir), [])
        return asked.read

    def test_key_agreement(self) -> None:
        """Who waits need not make a group of numbers first, which takes seconds; who sends needs none."""
        self.assertEqual(sorted(self.read_by(SENDS)), ["ca-cert.pem", "client-cert.pem", "client-key.pem"])
        waits = self.read_by(WAITS)
        self.assertEqual(sorted(waits), ["ca-cert.pem", key_agreement.FILE, "server-cert.pem", "server-key.pem"])
        self.assertEqual(waits[key_agreement.FILE], key_agreement.PARAMETERS)
