"""What nodes keep of instances that are not there is told of."""

from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.test.logic.stage import INSTANCE
from ganeti_tx.test.logic.verify.test_group import GroupCase


class KeptTests(GroupCase):
    """Both nodes keep something of web1, which is on node1, and the second one of an instance that has gone."""

    def test_told(self) -> None:
        """Where it is that is right; else it is a warning."""
        asked: list[object] = []

        def answer(node: str, call: NodeVerify) -> dict[str, object]:
            asked.append(call.checks["kept-owners"])
            return {"kept-owners": {"kvm": [INSTANCE.uuid, *(["0a1b2c3d"] if node.startswith("node2") else [])]}}

        self.nodes.answers[NodeVerify] = answer
        self.assertEqual(
            [line for line in self.found() if "TPM" in line],
            [
                "WARNING:EINSTANCEWRONGNODE:instance:web1.example.com:node node2.example.com keeps firmware variables or a TPM"
                " of it, perhaps of an earlier time",
                "WARNING:ENODEORPHANINSTANCE:node:node2.example.com:hypervisor kvm keeps firmware variables or a TPM of unknown"
                " instance 0a1b2c3d",
            ],
        )
        self.assertEqual(asked, [["kvm"]] * 2)
