#!/usr/bin/env bash
# On policy exactly, from inside and outside.
exec python3 "$(dirname "$0")/../outside/on_policy.py"
