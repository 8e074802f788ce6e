#!/usr/bin/env bash
# Where problems come from: presets, mixes, curricula, repeated and contaminated problems, the tasks drawn from counters.
# limit_s: 120
exec python3 "$(dirname "$0")/../outside/data.py"
