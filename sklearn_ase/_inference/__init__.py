"""What picks and labels say about the risk."""
