#!/usr/bin/env bash
# The gradient of a step, from outside.
exec python3 "$(dirname "$0")/../outside/gradients.py"
