#!/usr/bin/env bash
# The short quickstart learns.
exec python3 "$(dirname "$0")/../outside/quickstart_short.py"
