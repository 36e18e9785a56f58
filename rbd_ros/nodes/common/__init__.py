"""What all nodes share: declarations, parameters, diagnostics, messages, and how they run."""
