"""A client's use of LUXI, as far as a type checker sees it: what methods take, and what they give.

mypy checks this file with all others: a wrong argument that were not an error would leave an ignore unused, which is one.
"""

from typing import Any, assert_type

from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.own_methods import Events
from ganeti_tx.metrics.readings import Readings


def blocking(luxi: Client) -> None:
    """A command."""
    assert_type(luxi.submit_job([{"OP_ID": "OP_TEST_DELAY"}]), int)
    assert_type(luxi.submit_many_jobs(jobs=[[], []]), list[Any])
    assert_type(luxi.cancel_job("3", kill=True), list[Any])
    assert_type(luxi.archive_job(3), bool)
    assert_type(luxi.query("node", ("name",), ["=", "name", "node1"]), dict[str, Any])
    assert_type(luxi.query_tags("cluster"), list[str])
    assert_type(luxi.query_cluster_info(), dict[str, Any])


async def waiting(luxi: AsyncClient) -> None:
    """A program on Twisted or asyncio."""
    assert_type(await luxi.submit_job([]), int)
    assert_type(await luxi.query_jobs(None, fields=["id"]), list[Any])
    assert_type(await luxi.replace_filter(None, 0, [], "ACCEPT", []), str)
    assert_type(await luxi.wait_for_events(None, timeout=5), Events)
    assert_type(await luxi.query_metrics(), Readings)


async def wrong(command: Client, luxi: AsyncClient) -> None:
    """Each of these is an error to mypy."""
    command.submit_job({"OP_ID": "OP_TEST_DELAY"})  # type: ignore[arg-type]
    command.cancel_job()  # type: ignore[call-arg]
    command.cancel_job(3, force=True)  # type: ignore[call-arg]
    command.query_nodes([], ["name"], True)  # type: ignore[arg-type]
    command.wait_for_events(None)  # type: ignore[attr-defined]
    await luxi.archive_job(None)  # type: ignore[arg-type]
    await luxi.query_groups([], [1])  # type: ignore[list-item]
