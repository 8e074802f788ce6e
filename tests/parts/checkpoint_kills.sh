#!/usr/bin/env bash
# A rank killed at any file call of a checkpoint leaves a generation that can be loaded.
# limit_s: 240
exec bash "$MAXPLUS_ROOT/tests/faults/checkpoint_kills.sh" "$(find "$MAXPLUS_BUILD/tests" -type f -name checkpoint_victim -print -quit)"
