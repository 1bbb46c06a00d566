"""The job process: walks the opcodes of one job."""
