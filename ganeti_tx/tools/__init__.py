"""Programs beside the commands, each one file or package: what scripts of administrators call by these names."""
