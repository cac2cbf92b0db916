"""A pool that is read in chunks: what stays of each row, and how rows are picked."""
