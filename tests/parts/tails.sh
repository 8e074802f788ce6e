#!/usr/bin/env bash
# Long tails from outside: the longest first, and more than is trained on with an early stop.
# limit_s: 150
exec python3 "$(dirname "$0")/../outside/tails.py"
