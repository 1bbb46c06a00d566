"""Every node call, a module for each noun: what it carries, what it answers, how long it may take and how big it may be.

Both ends read it. A call is a frozen value whose class knows the rest, so `await nodes.call(node, InstanceStart(...))` is
typed from end to end. Names and time-out classes are those of Ganeti's node call table; arguments travel by name, because
nobody but this program speaks this protocol.
"""
