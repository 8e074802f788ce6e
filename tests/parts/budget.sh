#!/usr/bin/env bash
# Rollouts that take several iterations, from outside.
# limit_s: 150
exec python3 "$(dirname "$0")/../outside/budget.py"
