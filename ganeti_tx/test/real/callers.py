"""A program that calls all nodes, with the keys of the node as which it runs, until its standard input ends; it prints what failed.

Usage: python -m ganeti_tx.test.real.callers NAME=ADDRESS ...
"""

import os
import sys
import threading
from pathlib import Path
from typing import Any

from twisted.internet import reactor as installed
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.interfaces import RpcError
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads

#: Seconds between two rounds, and after which a node counts as silent.
BETWEEN, LIMIT = 0.03, 30.0
reactor: Any = installed


async def call_all(nodes: list[NodeAddress], ended: threading.Event) -> None:
    """Round after round; one that began is gone through, so that there is one at least."""
    files, paths = RealFiles(InlineThreads()), Paths(Path(os.environ["GANETI_ROOTDIR"]))
    kept = node_rpc(reactor, files, paths)
    rounds = 0
    while not (ended.is_set() and rounds):
        for node in nodes:
            # by connections that are kept, and by new ones
            for rpc in (kept, node_rpc(reactor, files, paths)):
                try:
                    await rpc.call(node, Version(), LIMIT)
                except RpcError as error:
                    print(f"FAILED: {error}", flush=True)
        rounds += 1
        await deferLater(reactor, BETWEEN)
    print(f"ROUNDS: {rounds}", flush=True)


def main() -> None:
    """Call until the end of standard input."""
    pairs = [word.split("=") for word in sys.argv[1:]]
    nodes = [NodeAddress(name, address) for name, address in pairs]
    ended = threading.Event()

    def read() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=read, daemon=True).start()

    def begin() -> None:
        Deferred.fromCoroutine(call_all(nodes, ended)).addErrback(lambda failure: print(f"FAILED: {failure}")).addBoth(
            lambda _: reactor.stop()
        )

    reactor.callWhenRunning(begin)
    reactor.run()


if __name__ == "__main__":
    main()
