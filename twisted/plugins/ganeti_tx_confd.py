"""`twistd ganeti-confd`."""

from twisted.application.service import ServiceMaker

maker = ServiceMaker(
    "ganeti-confd", "ganeti_tx.confd.tap", "answers signed questions about the cluster", "ganeti-confd"
)
