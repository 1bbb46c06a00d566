"""Debian's hail on the master of a cluster in this process: the program itself, run on the document that it is given."""

import subprocess
from pathlib import Path
from tempfile import NamedTemporaryFile
from unittest import SkipTest

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.process import Call
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put

HAIL = Path("/usr/lib/ganeti/iallocators/hail")
DOCUMENT_LIMIT = 1 << 20


def install_hail(cluster: InProcessCluster, name: str = "hail") -> None:
    """Under this name. @raise SkipTest: this machine does not have it."""
    if not HAIL.exists():
        raise SkipTest("package ganeti-htools is not installed")
    master = cluster.master
    program = cluster.paths.iallocator_search_path[0] / name
    put(master.disk, program, b"#!/bin/sh\n", 0o755)

    def run(call: Call) -> ProcessResult:
        with NamedTemporaryFile(prefix="hail") as file:
            file.write(master.disk.read(Path(call.argv[1]), DOCUMENT_LIMIT))
            file.flush()
            ended = subprocess.run([str(HAIL), file.name, *call.argv[2:]], capture_output=True, check=False)
        return ProcessResult(status=ended.returncode, stdout=ended.stdout, stderr=ended.stderr)

    master.scripts.script([str(program)], run)
