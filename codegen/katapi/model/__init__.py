"""The resolved, typed meaning of a .kata file."""
