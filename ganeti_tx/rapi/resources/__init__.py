"""What each resource of the Remote API does, one file a noun."""
