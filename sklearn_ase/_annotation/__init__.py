"""Files and a console for annotators."""
