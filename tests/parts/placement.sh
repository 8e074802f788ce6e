#!/usr/bin/env bash
# Roles on ranks of their own or shared, on policy and ahead of training: the bits of one rank, from outside.
# limit_s: 200
exec python3 "$(dirname "$0")/../outside/placement.py"
