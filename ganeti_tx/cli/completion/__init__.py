"""What a shell may offer for the word that is being typed, from what the commands declare of themselves."""
