"""Tests of ganeti_tx.queue.files."""
