#!/usr/bin/env bash
# Answers in several turns, with an environment in between.
# limit_s: 300
exec python3 "$(dirname "$0")/../outside/turns.py"
