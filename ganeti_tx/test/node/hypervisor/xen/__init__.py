"""Tests of Xen's two hypervisors."""
