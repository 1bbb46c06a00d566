"""QEMU, with or without KVM."""
