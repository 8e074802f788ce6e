#!/usr/bin/env bash
# Exact resume after every iteration, across numbers of ranks.
exec python3 "$(dirname "$0")/../outside/resume.py"
