"""Where node daemons listen; commands read it, too, which load no declarations for that."""

NODE_PORT = 1811
