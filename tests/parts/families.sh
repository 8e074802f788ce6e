#!/usr/bin/env bash
# Every model family trains from a shape, on policy exactly, with the same bits on any number of ranks.
exec python3 "$(dirname "$0")/../outside/families.py"
