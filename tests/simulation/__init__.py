"""A simulated cluster around the real processor: everything that can go wrong, from one seed."""
