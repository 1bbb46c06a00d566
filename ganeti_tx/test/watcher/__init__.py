"""Tests of the watcher."""
