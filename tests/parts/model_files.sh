#!/usr/bin/env bash
# Files of models through the program: every malformed one, and conversions there and back.
exec python3 "$(dirname "$0")/../outside/model_files.py"
