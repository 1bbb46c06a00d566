"""The parts of the runtime that need the reactor, processes or sockets."""
