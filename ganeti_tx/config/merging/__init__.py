"""Two clusters' configurations become one: pure functions of both."""
