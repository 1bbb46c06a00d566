"""`twistd ganeti-rapi`."""

from twisted.application.service import ServiceMaker

maker = ServiceMaker("ganeti-rapi", "ganeti_tx.rapi.tap", "the Remote API: HTTPS in front, LUXI behind", "ganeti-rapi")
