"""Commands about job filters."""
