#!/usr/bin/env bash
# Signals, wall limit, killed and stopped ranks.
exec python3 "$(dirname "$0")/../outside/stopping.py"
