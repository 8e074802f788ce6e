#!/usr/bin/env bash
# Rules on files of pairs and marked answers learn a preference that a small network can see.
exec python3 "$(dirname "$0")/../outside/preferences.py"
