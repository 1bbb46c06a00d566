"""`twistd ganeti-wconfd`."""

from twisted.application.service import ServiceMaker

maker = ServiceMaker("ganeti-wconfd", "ganeti_tx.wconfd.tap", "keeps the configuration and the locks", "ganeti-wconfd")
