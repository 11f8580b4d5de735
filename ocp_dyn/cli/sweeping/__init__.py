"""`ocp-dyn sweep`: the command and its page."""
