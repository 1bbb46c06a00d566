Lists start faster and take less time in large clusters; ``gnt-instance info`` asks all nodes what they run at the same time.
