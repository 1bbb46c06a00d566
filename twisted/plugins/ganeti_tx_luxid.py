"""`twistd ganeti-luxid`."""

from twisted.application.service import ServiceMaker

maker = ServiceMaker("ganeti-luxid", "ganeti_tx.luxid.tap", "answers LUXI and runs the job queue", "ganeti-luxid")
