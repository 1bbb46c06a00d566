"""The QEMU command line, a theme a file; pure functions from a plan to arguments."""
