"""One evaluation: ask, tell, estimate."""
