The Remote API's clients read HTTP/1.1 with h11, and the server reads Accept-Encoding and entity tags with Werkzeug, in place of code
of our own.
