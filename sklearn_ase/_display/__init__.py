"""The report of an evaluation: one content, shown as HTML and as Markdown."""
