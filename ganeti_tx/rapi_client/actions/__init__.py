"""What clients can ask for, one function a method and one file a noun."""
