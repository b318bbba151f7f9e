"""What follows from a declared template, without a line of code for any one model."""
