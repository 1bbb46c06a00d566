"""`twistd ganeti-mond`."""

from twisted.application.service import ServiceMaker

maker = ServiceMaker("ganeti-mond", "ganeti_tx.mond.tap", "tells over HTTP how this node fares", "ganeti-mond")
