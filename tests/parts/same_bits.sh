#!/usr/bin/env bash
# The promise of equal bits on any number of ranks and threads, from outside.
exec python3 "$(dirname "$0")/../outside/same_bits.py"
