#!/usr/bin/env bash
# Bad decks, command lines, problems, models, judges and run folders, and strange shapes that must work.
exec python3 "$(dirname "$0")/../outside/bad_input.py"
