"""What all nodes share; importing this package imports nothing."""
