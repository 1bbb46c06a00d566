"""The lock table: pure, without a reactor and without I/O."""
