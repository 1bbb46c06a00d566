"""Instances on external storage, in a cluster in which all nodes have a provider."""

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation
from ganeti_tx.test.inprocess.test_each_call import is_gone, is_there

ENABLE = "gnt-cluster modify --enabled-disk-templates ext,file --ipolicy-disk-templates ext,file"
ADD = "gnt-instance add -t ext --disk 0:size=1g,provider=shelf,colour=red -o noop -n node2 web1"


class LifeTests(ClusterCase):
    """From creation to removal."""

    def test_life(self) -> None:
        """Its volume is made, attached while it runs, and removed with it."""
        self.fails(ADD, "not enabled")
        self.ok(ENABLE)
        self.ok(ADD)
        (disk,) = self.cluster.config.disks.values()
        name = f"shelf/{disk.uuid}.ext.disk0"
        self.assertEqual(list(self.cluster.shared.external.volumes), [name])
        self.assertEqual(self.cluster.shared.external.volumes[name].owner, "originstname+web1.example.com")
        self.assertEqual((disk.nodes, disk.params), ((), {"provider": "shelf", "colour": "red"}))
        self.ok("gnt-cluster verify")
        self.ok("gnt-instance shutdown web1")
        self.assertEqual(self.ran()[-2:], ["close", "detach"])
        self.ok("gnt-instance startup web1")
        self.assertIn("shelf", self.ok("gnt-instance info web1"))
        self.ok("gnt-instance remove --force web1")
        self.assert_nothing_left(self.cluster)

    def ran(self) -> list[str]:
        """The scripts, in order."""
        return [script for script, _ in self.cluster.shared.external.ran]

    def test_refused(self) -> None:
        """No provider, one that is not there, strange parameters: nothing is done."""
        self.ok(ENABLE)
        self.fails(ADD.replace(",provider=shelf", ""), "disk/0: provider is missing")
        self.fails(ADD.replace("=shelf", "=other"), "provider 'other' not found on node node2.example.com")
        self.fails(ADD.replace("colour", "size_of"), "provider 'shelf' has no parameter 'size_of'; allowed: colour")
        self.fails(ADD.replace("colour=red", "access=sideways"), "allowed are kernelspace, userspace")
        self.cluster.node(2).disk.remove(self.cluster.paths.extstorage_search_path[0] / "shelf/grow")
        self.fails(ADD, "provider 'shelf' of node node2.example.com cannot be used: script grow is missing")
        self.assertEqual(self.ran(), [])
        self.assert_nothing_left(self.cluster)

    def test_script_fails(self) -> None:
        """What fails is taken back."""
        self.ok(ENABLE)
        self.cluster.shared.external.broken = {"attach"}
        self.fails(ADD, "attach exited with status 3")
        self.assert_nothing_left(self.cluster)


class EachCallTests(EachCallCase):
    """Whatever fails, and wherever the job is ended, the configuration and the volumes agree."""

    def check(self, operation: Operation) -> None:
        """In all ways."""
        self.check_troubles(operation)
        self.check_ended(operation, self.kill)
        self.check_ended(operation, self.cancel)

    def test_create(self) -> None:
        """Creation."""
        self.check(Operation(ADD, before=(ENABLE,), done=is_there))

    def test_remove(self) -> None:
        """Removal."""
        self.check(Operation("gnt-instance remove -f web1", before=(ENABLE, ADD), partly=True, done=is_gone))
