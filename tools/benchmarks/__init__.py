"""The benchmark behind `make bench`: Katapi beside its peers, interleaved in one process and on one thread."""
