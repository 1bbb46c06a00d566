"""ganeti_tx: a cluster manager for virtual machines, one event-driven program family on Twisted."""

__version__ = "0.1.0"
