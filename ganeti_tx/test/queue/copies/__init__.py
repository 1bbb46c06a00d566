"""Tests of ganeti_tx.queue.copies."""
