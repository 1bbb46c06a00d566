"""Schemathesis against the Remote API of a devcluster: whatever is asked, no fault and nothing undeclared comes back."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.test.real.rapi_cluster import WRITER
from ganeti_tx.test.real.rapi_scene import Scene, scene

PROGRAM = Path(sys.executable).parent / "schemathesis"
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")
#: Waits for a job, of which none runs here; has no end; takes the rule away that lets no job run.
LEFT_OUT = ("/2/os", "/2/events", "/2/filters/{filter_uuid}")
#: Requests to each operation; more find more (by hand: 200, and the phase "coverage" besides).
EXAMPLES = 10
SEED = 1
#: Seconds; it takes half a minute.
LIMIT = 240


class SchemathesisTests(SynchronousTestCase):
    """Requests made up from the description."""

    def setUp(self) -> None:
        if not PROGRAM.exists():
            raise SkipTest("schemathesis is not installed beside this Python")
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.scene = scene()

    def test_requests_of_any_kind(self) -> None:
        """No request, right or wrong, is answered with a fault of the server, an undeclared status or another body."""
        done = subprocess.run(
            [str(PROGRAM), "--config-file", str(self.settings(self.scene)), "run", *self.words(self.scene)],
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])

    def settings(self, scene: Scene) -> Path:
        """A file that says: the paths name what is there, and methods that are not declared are not asked for."""
        names = [f'"path.{part}" = {json.dumps(name)}' for part, name in scene.parts.items() if part != "resource"]
        file = self.directory / "schemathesis.toml"
        file.write_text("\n".join(["[phases.coverage]", "unexpected-methods = []", "[parameters]", *names, ""]))
        return file

    def words(self, scene: Scene) -> list[str]:
        """The command line."""
        server = scene.rapi.server()
        return [
            f"https://{server.netloc}/openapi.json",
            f"--auth={WRITER.user}:{WRITER.password}",
            "--tls-verify=false",  # the certificate is for the cluster's name, which no resolver knows
            f"--checks={','.join(CHECKS)}",
            f"--seed={SEED}",
            f"--max-examples={EXAMPLES}",
            "--phases=fuzzing",
            "--mode=all",
            "--workers=2",
            "--suppress-health-check=all",
            "--request-timeout=20",
            "--continue-on-failure",
            *(f"--exclude-path={path}" for path in LEFT_OUT),
        ]
