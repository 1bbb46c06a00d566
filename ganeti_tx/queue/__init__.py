"""The job queue: job files, their life, their order."""
