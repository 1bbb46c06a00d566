"""Commands about OS definitions."""
