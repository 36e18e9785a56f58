"""What all nodes share: their declarations, parameters, diagnostics, messages, and how they run."""
