"""`twistd ganeti-noded`."""

from twisted.application.service import ServiceMaker

maker = ServiceMaker("ganeti-noded", "ganeti_tx.node.tap", "does what the master asks of this node", "ganeti-noded")
