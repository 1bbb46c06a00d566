"""What every hypervisor does that can have the file systems of its guests stand still."""

from typing import Any

from zope.interface.verify import verifyObject

from ganeti_tx.node.hypervisor.interfaces import IFreezes
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.operation_cells import DONE

LIMIT = 300.0


async def check_stands_still(driver: Any, name: str) -> None:
    """A guest that runs stands still once, goes on once, and can be let go whenever anybody wants. @raise AssertionError"""
    verifyObject(IFreezes, driver)
    assert not await driver.thaw(name), "nothing had been frozen"
    for _ in range(2):
        why_not = await driver.freeze(name, LIMIT)
        assert why_not == "", why_not
        assert await driver.thaw(name), "it went on too early"
        assert not await driver.thaw(name), "it stood still twice"
    driver.thaw_all()
    rows.hold(driver.name, {rows.FROZEN: DONE})
