"""OS definitions: finding, checking and running their scripts."""
