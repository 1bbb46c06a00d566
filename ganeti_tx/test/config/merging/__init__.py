"""Two configurations become one."""
