"""Changes of an instance that runs."""

from ganeti_tx.errors import HypervisorError, OpExecError, OpPrereqError
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevRemove
from ganeti_tx.rpc.calls.hotplug import HotplugDevice, HotplugSupported, InstanceBalloonMemory, InstanceGrow
from ganeti_tx.rpc.calls.instance import InstanceInfo, RunningInstance
from ganeti_tx.test.logic.instance.modify.scene import UP, ModifyCase, modify

RUNS = RunningInstance(memory=200, vcpus=1, state=0, time=1.0)


GROWN = {"vcpus": 4, "maxmem": 512}


class GrowthTests(ModifyCase):
    """More processors and memory for an instance that runs."""

    initial = UP

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answer(InstanceInfo, RUNS)
        self.nodes.answer(InstanceGrow, None)

    def grown(self) -> list[tuple[int, int]]:
        """What the node was told to give."""
        return [(call.vcpus, call.memory) for call in self.nodes.of_kind(InstanceGrow)]

    def test_grown(self) -> None:
        """The node is asked, the configuration changed, then the machine."""
        self.told(hotplug=True, force=True, beparams=GROWN)
        (asked,) = self.nodes.of_kind(HotplugSupported)
        self.assertEqual((asked.vcpus, asked.memory, self.grown()), (4, 512, [(4, 512)]))
        self.assertEqual(self.web1.beparams["vcpus"], 4)

    def test_not_asked(self) -> None:
        """Without being asked for, and where nothing that can come changes, and where nothing runs, it waits for the next start."""
        self.told(force=True, beparams=GROWN)
        self.told(hotplug=True, beparams={"always_failover": True})
        self.nodes.answer(InstanceInfo, None)
        self.told(hotplug=True, beparams={"vcpus": 2})
        self.assertEqual(self.grown(), [])

    def test_impossible(self) -> None:
        """What was not started for it stays as it is, or gets it at its next start."""
        self.nodes.fail(HotplugSupported, HypervisorError("set max_vcpus, and restart it"))
        before = self.stage.snapshot
        error = self.refused(modify(hotplug=True, force=True, beparams=GROWN), OpPrereqError)
        self.assertIn("Hotplug is not possible: ", error)
        self.assertIs(self.stage.snapshot, before)
        self.told(hotplug_if_possible=True, force=True, beparams=GROWN)
        self.assertIn("it will have what it is given after its next start", self.stage.feedback[-1])
        self.assertEqual((self.grown(), self.web1.beparams["vcpus"]), ([], 4))

    def test_failed(self) -> None:
        """The configuration has it already when the machine does not get it; that is an error where it had to be."""
        self.nodes.fail(InstanceGrow, HypervisorError("no room"))
        text = "instance web1.example.com will have its processors and memory after its next start: "
        self.assertIn(text, self.refused(modify(hotplug=True, force=True, beparams=GROWN), OpExecError))
        self.assertEqual(self.web1.beparams["vcpus"], 4)
        self.told(hotplug_if_possible=True, force=True, beparams={"vcpus": 5})
        self.assertIn(text, self.stage.feedback[-1])


class LiveTests(ModifyCase):
    """Its node says that it runs."""

    initial = UP

    def setUp(self) -> None:
        super().setUp()
        self.nodes.answer(InstanceInfo, RUNS)

    def plugged(self) -> list[tuple[str, str, int]]:
        """What was plugged: action, kind or uuid, place."""
        return [
            (call.action.value, "disk" if call.disk is not None else "nic", call.index)
            for call in self.nodes.of_kind(HotplugDevice)
        ]

    def test_all(self) -> None:
        """First what leaves, then what comes; the disk that leaves is removed last, then all have their stable names."""
        told = self.told(
            hotplug=True,
            disks=[["add", -1, {"size": 1024}], ["remove", 0, {}]],
            nics=[["add", -1, {}], ["remove", "in", {}], ["modify", 0, {"link": "br7"}]],
        )
        wanted = [("hotremove", "disk", 0), ("hotremove", "nic", 1), ("hotmod", "nic", 0), ("hotadd", "nic", 1)]
        self.assertEqual(self.plugged(), [*wanted, ("hotadd", "disk", 1)])
        self.assertEqual(told["disk/0"], "hotplug:done")
        [asked] = self.nodes.of_kind(HotplugSupported)
        self.assertEqual((asked.disks, asked.nics), (True, True))
        last = [call for _, call in self.nodes.sent if isinstance(call, BlockdevAssemble | BlockdevRemove)]
        self.assertEqual([type(call).__name__ for call in last[1:]], ["BlockdevRemove", *["BlockdevAssemble"] * 2])
        self.assertEqual([call.disk.index for call in last], [-1, -1, 0, 1])

    def test_not_asked(self) -> None:
        """Without being asked for nothing is plugged; a new name needs no plug."""
        self.told(nics=[["add", -1, {}]])
        self.told(nics=[["modify", 0, {"name": "other"}]], hotplug=True)
        self.assertEqual(self.plugged(), [])

    def test_if_possible(self) -> None:
        """What cannot be plugged is there at the next start, and that is told."""
        self.nodes.fail(HotplugSupported, HypervisorError("it cannot"))
        self.told(hotplug_if_possible=True, nics=[["add", -1, {}]])
        said = [line for line in self.stage.feedback if "otplug" in line or "cannot" in line]
        self.assertIn("it cannot", said[0])
        self.assertEqual(said[1], "- INFO: Modification will take place without hotplugging.")
        self.assertEqual(len(self.web1.nics), 3)

    def test_one_fails(self) -> None:
        """A device that is refused although others were not."""
        self.nodes.fail(HotplugDevice, HypervisorError("the guest says no"))
        told = self.told(hotplug_if_possible=True, nics=[["add", -1, {}]])
        self.assertEqual(told["nic.2"], "hotplug:failed")
        before = self.stage.snapshot
        error = self.refused(modify(hotplug=True, nics=[["add", -1, {}]]), OpExecError)
        self.assertIn("could not plug in nic/3 of instance web1.example.com: ", error)
        self.refused(modify(hotplug_if_possible=True, disks=[["remove", 0, {}]]), OpExecError)
        self.assertIs(self.stage.snapshot, before)

    def test_taken_back(self) -> None:
        """What was plugged before is plugged out again."""
        self.nodes.answers[HotplugDevice] = self.refuse_second
        self.refused(modify(hotplug=True, nics=[["add", -1, {}], ["add", -1, {}]]), OpExecError)
        wanted = [("hotadd", "nic", 2), ("hotadd", "nic", 3), ("hotremove", "nic", 3), ("hotremove", "nic", 2)]
        self.assertEqual(self.plugged(), wanted)

    def refuse_second(self, node: str, call: HotplugDevice) -> None:
        """A guest without room for a fourth NIC."""
        if call.index == 3 and call.action.value == "hotadd":
            raise HypervisorError("no slot")

    def test_balloon(self) -> None:
        """By the new bounds; more memory needs room; a failure later gives the former back."""
        self.assertEqual(self.told(runtime_mem=300, beparams={"maxmem": 512})["runtime_memory"], 300)
        self.told(runtime_mem=1024, force=True)
        self.nodes.fail(InstanceBalloonMemory, HypervisorError("the guest keeps it"))
        error = self.refused(modify(runtime_mem=128, beparams={"vcpus": 2}), OpExecError)
        self.assertIn("could not change the memory of instance web1.example.com to 128 MiB", error)
        self.assertEqual([call.memory for call in self.nodes.of_kind(InstanceBalloonMemory)], [300, 1024, 128, 200])
        self.assertEqual(self.web1.beparams, {"maxmem": 512})
