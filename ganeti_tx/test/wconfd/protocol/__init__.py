"""Tests of ganeti_tx.wconfd.protocol."""
