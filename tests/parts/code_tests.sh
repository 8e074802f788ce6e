#!/usr/bin/env bash
# Hostile programs under the verifier code_tests.
# limit_s: 300
exec python3 "$(dirname "$0")/../outside/code_tests.py"
