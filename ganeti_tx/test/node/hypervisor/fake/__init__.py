"""Tests of the fake hypervisor."""
