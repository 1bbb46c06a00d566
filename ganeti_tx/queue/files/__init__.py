"""The job files: stored, loaded, archived, and set aside when they are damaged."""
