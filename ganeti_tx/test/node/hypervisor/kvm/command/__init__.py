"""The command line of QEMU."""
