"""Layer 2: what is learned from traffic, one estimator a file.

An estimator is pure: it takes `now`, keeps its own small state, and writes what it believes into the fleet's columns
that were handed to it. Rows are fleet rows; capacity is that of the columns.
"""
