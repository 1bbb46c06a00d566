"""Exports between Ganeti's programs and ours: each takes what the other has made."""

import tempfile
from pathlib import Path
from shutil import rmtree

from msgspec.structs import replace
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.export_file import read_export, written
from ganeti_tx.test.model.test_export_file import DUMPS, INSTANCE
from ganeti_tx.test.real.stock_node import StockNode
from ganeti_tx.test.real.test_stock_commands import COMMANDS, stock_environment, why_not

NAME = INSTANCE.name
EXPORTS = "/var/lib/ganeti/export"


class StockExportTests(SynchronousTestCase):
    """Ganeti's own node daemon with exports of ours."""

    skip = why_not()

    def setUp(self) -> None:
        directory = Path(tempfile.mkdtemp(prefix="gtx", dir="/tmp"))
        self.addCleanup(rmtree, directory)
        self.node = StockNode(directory, COMMANDS / "ganeti-noded", stock_environment())

    def put(self, name: str, text: str) -> None:
        """What an export of ours leaves on a node."""
        export = self.node.data / "export" / name
        export.mkdir(parents=True)
        (export / "config.ini").write_text(text)

    def test_read(self) -> None:
        """It lists and reads them, whatever is in them, and tells its master what ours would be told."""
        hard = {"user_data": "#cloud-config\n  - path: /x\n\n# end", "rate": "100% [a];b"}
        plain = replace(INSTANCE, osparams={"lang": "C"})
        texts = {
            NAME: written(plain, DUMPS, 1700000123.0),
            "hard": written(replace(INSTANCE, osparams=hard, osparams_private=hard), DUMPS, 1700000123.0),
        }
        for name, text in texts.items():
            self.put(name, text)
        self.node.start()
        self.addCleanup(self.node.stop)
        self.assertEqual(self.node.call("export_list"), (True, sorted(texts)))
        for name, text in texts.items():
            done, told = self.node.call("export_info", f"{EXPORTS}/{name}")
            self.assertTrue(done, told)
            self.assertEqual(read_export(told), read_export(text))
        self.assertEqual(self.node.call("export_remove", NAME), (True, None))
        self.assertEqual(self.node.call("export_list"), (True, ["hard"]))
