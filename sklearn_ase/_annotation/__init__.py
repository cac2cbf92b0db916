"""Files and a console for the people who label."""
