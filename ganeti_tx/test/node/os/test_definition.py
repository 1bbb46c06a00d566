"""Tests of reading and finding OS definitions."""

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.node.os.definition import split_name
from ganeti_tx.test.fakes.files import MemoryFiles

FIRST, SECOND = Path("/srv/ganeti/os"), Path("/usr/share/ganeti/os")

TEXTS = {
    "ganeti_api_version": "15\n20\n",
    "variants.list": "# which\n\nlenny\nsqueeze\n",
    "parameters.list": "dhcp ask for an address\nmirror where packages come from\n",
}


class DefinitionTestCase(SynchronousTestCase):
    """A node with OS definitions in memory."""

    def setUp(self) -> None:
        self.files = MemoryFiles()
        self.catalogue = OsCatalogue(self.files, (FIRST, SECOND))

    def write(self, path: Path, text: str, mode: int = 0o644) -> None:
        """A file with its directory."""
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self._write(path, text, mode)))

    async def _write(self, path: Path, text: str, mode: int) -> None:
        await self.files.write_atomic(path, text.encode(), mode)

    def install(self, name: str = "debian", directory: Path = SECOND, without: str = "", **texts: str) -> Path:
        """A whole definition, less one file, with some texts replaced (dots of names are underscores)."""
        path = directory / name
        replaced = {key.replace("_list", ".list"): text for key, text in texts.items()}
        for file, text in {**TEXTS, **replaced}.items():
            if file != without:
                self.write(path / file, text)
        for script in ("create", "export", "import", "rename", "verify"):
            if script != without:
                self.write(path / script, "#!/bin/sh\n", 0o755)
        return path

    def refused(self, function: Any, *args: Any) -> str:
        """The one line of an OpPrereqError."""
        return str(self.assertRaises(OpPrereqError, function, *args))


class CatalogueTests(DefinitionTestCase):
    """Finding."""

    def test_whole(self) -> None:
        """A definition is read with its highest common version, variants, and parameters with their help."""
        path = self.install()
        found = self.catalogue.find("debian+lenny")
        self.assertEqual((found.name, found.path, found.api_version, found.trusted), ("debian", path, 20, True))
        self.assertEqual((found.api_versions, found.variants), ((15, 20), ("lenny", "squeeze")))
        self.assertEqual(found.parameters[0], ("dhcp", "ask for an address"))

    def test_first_wins(self) -> None:
        """The first directory of the search path hides the later ones; diagnosing tells of both."""
        self.install(directory=SECOND)
        first = self.install(directory=FIRST)
        self.assertEqual(self.catalogue.find("debian").path, first)
        self.assertEqual([row.path for row in self.catalogue.diagnose()], [str(first), str(SECOND / "debian")])

    def test_absent(self) -> None:
        """A missing OS is refused, naming where it was looked for."""
        self.assertIn("/srv/ganeti/os, /usr/share/ganeti/os", self.refused(self.catalogue.find, "debian"))
        self.assertFalse(self.catalogue.has("debian"))

    def test_names_are_not_paths(self) -> None:
        """A name that steps out of the search path finds nothing."""
        self.install("evil", Path("/tmp"))
        self.files.mkdir(FIRST)
        for name in ("../../../tmp/evil", "/tmp/evil", "", ".", ".."):
            self.refused(self.catalogue.find, name)

    def test_api_10(self) -> None:
        """Version 10 knows no variants, parameters or verify."""
        path = self.install(without="verify", ganeti_api_version="5\n10\n")
        self.files.remove(path / "parameters.list")
        found = self.catalogue.find("debian")
        self.assertEqual((found.api_version, found.variants, found.parameters), (10, (), ()))

    def test_api_15(self) -> None:
        """Version 15 may have variants, and needs neither parameters nor verify."""
        self.install(without="verify", ganeti_api_version="15\n")
        self.assertEqual(self.catalogue.find("debian").variants, ("lenny", "squeeze"))
        self.install("plain", without="variants.list", ganeti_api_version="15\n")
        self.assertEqual(self.catalogue.find("plain").variants, ())

    def test_missing_file(self) -> None:
        """What version 20 requires is missed by name, in finding and in diagnosing."""
        for name in ("create", "export", "import", "verify", "parameters.list", "ganeti_api_version"):
            os_name = f"no-{name}"
            self.install(os_name, without=name)
            self.assertIn(f"{name} is missing", self.refused(self.catalogue.find, os_name))
        self.assertEqual({row.valid for row in self.catalogue.diagnose()}, {False})

    def test_optional_scripts(self) -> None:
        """Without export and import, or without rename, a definition can be used for everything else."""
        path = self.install(without="rename")
        for script in ("export", "import"):
            self.files.remove(path / script)
        found = self.catalogue.find("debian")
        self.assertEqual(found.script("create"), path / "create")
        for script, done in (("export", "exported"), ("import", "imported"), ("rename", "renamed")):
            text = self.refused(found.script, script)
            self.assertEqual(text, f"OS 'debian' has no {script} script, so its instances cannot be {done}")
        self.assertEqual([row.valid for row in self.catalogue.diagnose()], [True])

    def test_half_of_a_pair(self) -> None:
        """Export makes no sense without import."""
        self.install(without="import")
        self.assertIn("export and import come together", self.refused(self.catalogue.find, "debian"))

    def test_not_executable(self) -> None:
        """A script that its owner may not execute makes the definition unusable."""
        path = self.install()
        self.files.set_mode(path / "rename", 0o644)
        self.assertIn("script rename is not executable", self.refused(self.catalogue.find, "debian"))

    def test_bad_version(self) -> None:
        """A version file of another form, or without a common version, is told with its content."""
        self.install("words", ganeti_api_version="twenty\n")
        self.install("old", ganeti_api_version="5\n")
        self.assertIn("'twenty'", self.refused(self.catalogue.find, "words"))
        self.assertIn("it has 5, this node has 10, 15, 20", self.refused(self.catalogue.find, "old"))

    def test_untrusted(self) -> None:
        """An OS with create_untrusted in place of create is there, and not trusted."""
        path = self.install(without="create")
        self.write(path / "create_untrusted", "#!/bin/sh\n", 0o755)
        self.assertFalse(self.catalogue.find("debian").trusted)
        self.assertEqual([(row.valid, row.trusted) for row in self.catalogue.diagnose()], [(True, False)])

    def test_diagnose_row(self) -> None:
        """A good row has everything; files beside the definitions are none."""
        path = self.install()
        self.write(SECOND / "README", "text")
        (row,) = self.catalogue.diagnose()
        self.assertEqual((row.name, row.path, row.valid, row.diagnose), ("debian", str(path), True, ""))
        self.assertEqual((row.variants, row.api_versions), (["lenny", "squeeze"], [15, 20]))
        self.assertEqual(row.parameters[1], ("mirror", "where packages come from"))


class VariantTests(DefinitionTestCase):
    """Variants and parameters."""

    def test_split(self) -> None:
        """The variant stands behind the first plus sign."""
        self.assertEqual([split_name(each) for each in ("a", "a+b", "a+b+c")], [("a", ""), ("a", "b"), ("a", "b+c")])

    def test_variants(self) -> None:
        """A variant must be one of the list; force admits none and unknown ones."""
        self.install()
        found = self.catalogue.find("debian")
        found.check_variant("lenny")
        self.assertIn("allowed: lenny, squeeze", self.refused(found.check_variant, "woody"))
        self.assertIn("must include a variant", self.refused(found.check_variant, ""))
        found.check_variant("woody", True)
        found.check_variant("", True)

    def test_no_variants(self) -> None:
        """An OS without variants takes none, by force neither."""
        self.install(without="variants.list")
        found = self.catalogue.find("debian")
        found.check_variant("")
        self.assertIn("does not support variants", self.refused(found.check_variant, "x", True))

    def test_parameters(self) -> None:
        """Parameters must be known by name."""
        self.install()
        found = self.catalogue.find("debian")
        found.check_parameters(["dhcp"])
        self.assertIn("by the OS debian: color; allowed: dhcp, mirror", self.refused(found.check_parameters, ["color"]))
