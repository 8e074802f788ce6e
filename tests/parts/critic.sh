#!/usr/bin/env bash
# Runs with a critic, from outside: equal bits on any number of ranks, exact resume, the critic as a classifier.
exec python3 "$(dirname "$0")/../outside/critic.py"
