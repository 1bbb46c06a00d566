"""What this node knows of its master: by its own files, the term, and its ballot."""
