"""What this node tells its instances of themselves, by its metadata daemon."""
