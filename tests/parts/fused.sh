#!/usr/bin/env bash
# Groups that are judged while others are drawn.
# limit_s: 240
exec python3 "$(dirname "$0")/../outside/fused.py"
