"""`twistd ganeti-master`."""

from twisted.application.service import ServiceMaker

maker = ServiceMaker("ganeti-master", "ganeti_tx.master.tap", "luxid and wconfd in one process", "ganeti-master")
