#!/usr/bin/env bash
# Every learning rule trains, on policy at first.
exec python3 "$(dirname "$0")/../outside/algorithms.py"
