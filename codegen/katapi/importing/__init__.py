"""Writes specifications from the files that models come with."""
