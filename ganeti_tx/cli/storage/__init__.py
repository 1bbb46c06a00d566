"""Commands about external storage."""
