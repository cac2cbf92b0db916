"""What comes in: rows, labels and predictions, checked once."""
