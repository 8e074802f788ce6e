#!/usr/bin/env bash
# A network that scores answers: learnt from pairs, read outside, and as the reward of a policy.
exec python3 "$(dirname "$0")/../outside/reward_model.py"
