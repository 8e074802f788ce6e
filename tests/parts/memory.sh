#!/usr/bin/env bash
# Memory as planned, and flat.
exec python3 "$(dirname "$0")/../outside/memory.py"
