#!/usr/bin/env bash
# Seeded mutations of every file that a model consists of: read, or refused with a place and a reason.
exec "$(find "$MAXPLUS_BUILD/tests" -type f -name mutated_files -print -quit)" "$MAXPLUS_ROOT/tests/data" 250
