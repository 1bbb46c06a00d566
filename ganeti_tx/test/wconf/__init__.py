"""Tests of ganeti_tx.wconf."""
