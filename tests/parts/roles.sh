#!/usr/bin/env bash
# Critic, reference and reward model on ranks of their own: the bits of one rank, from outside.
# limit_s: 200
exec python3 "$(dirname "$0")/../outside/roles.py"
