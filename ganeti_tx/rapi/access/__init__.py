"""Who may do what: users, roles, scopes, tokens, the directory, and how often somebody may guess."""
