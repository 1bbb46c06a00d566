"""Tests of ganeti_tx.queue.runners."""
