"""The operating system behind interfaces: processes, threads, files, TLS, paths."""
