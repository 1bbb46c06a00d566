"""The KVM driver with a real guest: it shuts down by the power button, reboots, ends by itself, and is talked to."""

import sys
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater
from twisted.trial.unittest import TestCase

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import RunState
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, kvm_spec
from ganeti_tx.test.real.guest import ROOT, make_guest
from ganeti_tx.test.real.kvm_node import KvmNode, SerialConsole, until

UP = b"guest without a root disk is up"
#: Seconds; far more than a guest needs, so that being cut off at the limit would be told by its console.
STOP_LIMIT = 60.0


class GuestTests(TestCase):
    """A diskless busybox guest."""

    timeout = 300

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        self.guest = await make_guest()
        self.node = KvmNode()
        self.addCleanup(self.node.clear)
        self.driver = self.node.driver()

    def spec(self, **hvparams: Any) -> InstanceSpec:
        """A guest with its kernel on the node."""
        kernel = {"kernel_path": str(self.guest / "vmlinux"), "initrd_path": str(self.guest / "initrd.img")}
        return kvm_spec(vcpus=1, **{**kernel, "kernel_args": "quiet", "kvm_flag": "disabled", **hvparams})

    async def boot(self, **hvparams: Any) -> SerialConsole:
        """Start it and wait until it has a shell on its console."""
        await self.driver.start(self.spec(**hvparams), [])
        console = await SerialConsole.of(self.node.layout(NAME))
        await console.wait_for(UP)
        await console.wait_for(b"/ # ")
        return console

    async def test_power_button(self) -> None:
        """A stop presses the power button and waits until the guest has powered itself off."""
        console = await self.boot()
        info = await self.driver.info(NAME)
        assert info is not None
        self.assertEqual(info.memory, 128)
        self.assertGreater(info.cpu_seconds, 0.0)
        await self.driver.stop(NAME, STOP_LIMIT)
        await console.closed
        self.assertIn(b"reboot: Power down", console.said)
        self.assertEqual(self.node.remains(), [])

    async def test_reboots(self) -> None:
        """A reboot starts the guest again in the same QEMU."""
        console = await self.boot()
        before = await self.driver.info(NAME)
        await self.driver.reboot(self.spec(), [])
        await console.wait_for(UP, times=2)
        after = await self.driver.info(NAME)
        assert before is not None and after is not None
        self.assertEqual(before.hv_id, after.hv_id)
        await self.driver.stop(NAME, 0.0, force=True)
        await console.closed

    async def test_ends(self) -> None:
        """A guest that powers itself off is gone; a stop clears away what it left, without waiting."""
        console = await self.boot()
        console.type(b"poweroff -f")
        await console.closed
        await until(lambda: not self.node.processes())
        self.assertIsNone(await self.driver.info(NAME))
        await self.driver.stop(NAME, 100_000.0)
        self.assertEqual(self.node.remains(), [])

    async def test_user_shutdown(self) -> None:
        """With user_shutdown a guest that powers itself off is told as such, and a stop does not wait for it."""
        self.allow_user_shutdown()
        console = await self.boot(user_shutdown=True)
        console.type(b"poweroff -f")
        await console.wait_for(b"reboot: Power down")
        states: list[RunState] = []
        while RunState.SHUTDOWN_BY_USER not in states:
            info = await self.driver.info(NAME)
            assert info is not None and len(states) < 1000
            states.append(info.state)
        await self.driver.stop(NAME, 100_000.0)
        self.assertEqual(self.node.remains(), [])

    def allow_user_shutdown(self) -> None:
        """As the cluster's setting does."""
        path = self.node.paths.ssconf_file("enabled_user_shutdown")
        path.parent.mkdir(parents=True)
        path.write_text("True\n")

    async def test_user_shutdown_not_allowed(self) -> None:
        """Where the cluster does not have it, the parameter alone keeps no guest that has ended."""
        console = await self.boot(user_shutdown=True)
        console.type(b"poweroff -f")
        await console.closed
        await until(lambda: not self.node.processes())
        self.assertIsNone(await self.driver.info(NAME))

    async def test_agent(self) -> None:
        """A stop asks the agent inside the guest, though nobody there hears the power button."""
        console = await self.boot(use_guest_agent=True)
        self.start_agent(console, b"poweroff -f")
        await console.wait_for(b"listens")
        await self.driver.stop(NAME, STOP_LIMIT)
        await console.closed
        self.assertIn(b"the agent is asked\r\n", console.said)
        self.assertIn(b"reboot: Power down", console.said)
        self.assertEqual(self.node.remains(), [])

    def start_agent(self, console: SerialConsole, ending: bytes) -> None:
        """An agent in the guest that ends it so, where nobody hears the power button."""
        console.type(b"killall acpid; exec 3<>$(echo /dev/vport*)")
        console.type(b"while :; do read -r line <&3 || sleep 0.2; case $line in")
        console.type(b'*guest-sync*) id=${line##*id\\":}; printf \'\\377{"return": %s}\\n\' "${id%%\\}*}" >&3;;')
        console.type(
            b"*guest-shutdown*powerdown*) echo the agent is asked; " + ending + b";; esac; done & echo list''ens"
        )

    async def test_late_agent(self) -> None:
        """Without ACPI the agent is asked again, as it may come later than the stop."""
        console = await self.boot(use_guest_agent=True, acpi=False, reboot_behavior="exit")
        stopping = Deferred.fromCoroutine(self.driver.stop(NAME, STOP_LIMIT))
        await deferLater(reactor, 1.0)
        self.start_agent(console, b"reboot -f")
        await console.wait_for(b"the agent is asked\r\n")
        await stopping
        await console.closed
        self.assertEqual(self.node.remains(), [])

    async def test_no_agent(self) -> None:
        """A guest with a socket for an agent, and no agent, hears the power button."""
        console = await self.boot(use_guest_agent=True)
        await self.driver.stop(NAME, STOP_LIMIT)
        await console.closed
        self.assertIn(b"reboot: Power down", console.said)

    async def test_deaf(self) -> None:
        """A guest without ACPI and agent cannot be asked, and is cut off without waiting."""
        await self.boot(acpi=False)
        await self.driver.stop(NAME, 100_000.0)
        self.assertEqual(self.node.remains(), [])

    async def test_console(self) -> None:
        """The console's command passes what is typed to the guest and what it says back, and ends with it."""
        console = await self.boot()
        assert console.transport is not None
        console.transport.loseConnection()
        await console.closed
        command = (await self.driver.console(self.spec())).command or []
        self.assertEqual(command[0], sys.executable)
        talk = self.node.runner.run(command, cwd=ROOT, stdin=b"echo $((6*7))\npoweroff -f\n", timeout=STOP_LIMIT)
        result = await talk.addTimeout(STOP_LIMIT + 30, reactor)
        self.assertEqual(result.status, 0, result.describe())
        self.assertIn(b"\n42", result.stdout)

    async def test_no_console(self) -> None:
        """Nobody listens on the console of what does not run: one line and status 1."""
        command = (await self.driver.console(self.spec())).command or []
        result = await self.node.runner.run(command, cwd=ROOT)
        self.assertEqual((result.status, result.stderr.count(b"\n")), (1, 1))
        self.assertIn(b"does the instance run?", result.stderr)
