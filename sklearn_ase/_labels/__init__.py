"""What was asked and answered, and where it is kept."""
