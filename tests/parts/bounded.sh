#!/usr/bin/env bash
# Generation at its own pace, from outside.
# limit_s: 150
exec python3 "$(dirname "$0")/../outside/bounded.py"
