#!/usr/bin/env bash
# Training and evaluation whose judge runs programs, on one to three ranks, and with ranks that are killed.
# limit_s: 300
exec python3 "$(dirname "$0")/../outside/judged_runs.py"
