"""`twistd ganeti-metad`."""

from twisted.application.service import ServiceMaker

maker = ServiceMaker(
    "ganeti-metad", "ganeti_tx.metad.tap", "tells instances of this node of themselves", "ganeti-metad"
)
