#!/usr/bin/env bash
# Kills a rank at the k-th file call of a checkpoint and looks whether a good generation is left.
#
#   bash tests/faults/checkpoint_kills.sh VICTIM [COUNT]
#
# VICTIM is the built program checkpoint_victim; COUNT injections (default 30) are spread over calls, ranks and k.
# Prints a line an injection, `ok NAME` or `not ok NAME: why`, and `injected N, survived N, lost 0` at the end; exit 1 if
# anything was lost. Where it cannot run it prints `skip NAME: why`.
set -uo pipefail

victim=${1-}
count=${2:-30}
ranks=2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none

skip() { printf 'skip checkpoint_kills: %s\n' "$*"; exit 0; }
fail() { printf 'not ok checkpoint_kills: %s\n' "$*"; exit 1; }
[[ -x $victim ]] || fail "'$victim' was not built"
command -v strace > /dev/null || skip "strace is missing (apt-get install strace)"
command -v mpirun > /dev/null || skip "mpirun is missing"
strace -o /dev/null true 2> /dev/null || skip "strace may not trace here (ptrace is forbidden)"

# In memory where there is such a place: the calls are the same, and a slow disk would only make this slow.
place=${TMPDIR:-/tmp}
[[ ! -w /dev/shm || $(df -Pm /dev/shm | awk 'NR == 2 { print $4 }') -lt 100 ]] || place=/dev/shm
work=$(mktemp -d "$place/maxplus-kills-XXXXXX") || exit 73
trap 'rm -rf -- "$work"' EXIT

# Generation 1 is written in peace, once; every injection starts from a copy of it and disturbs the writing of 2 and 3.
timeout -k 5 60 mpirun -n $ranks "$victim" write "$work/start" 1 1 || fail "the undisturbed write failed"
calls=pwrite64,pwritev,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,fallocate,ftruncate

# Writes generations 2 and 3 into FOLDER with one rank under strace and its OPTIONS, the others free.
disturbed() {  # disturbed FOLDER RANK OPTION...
  # shellcheck disable=SC2016
  timeout -k 5 30 mpirun -n $ranks bash -c '
    victim=$0 folder=$1 rank=$2
    shift 2
    if [[ $OMPI_COMM_WORLD_RANK == "$rank" ]]; then exec strace -f -qq -e signal=none "$@" "$victim" write "$folder" 2 3; fi
    exec "$victim" write "$folder" 2 3' "$victim" "$@" > "$1.log" 2>&1
}

# Which calls there are: `rank call k`, one a line.
: > "$work/places"
for ((rank = 0; rank < ranks; ++rank)); do
  cp -r -- "$work/start" "$work/dry$rank"
  disturbed "$work/dry$rank" "$rank" -o "$work/trace$rank" -e trace="$calls" || fail "the traced write failed: $(tail -n 3 "$work/dry$rank.log" | tr '\n' ' ')"
  awk -v rank="$rank" '{ call = $2; sub(/\(.*/, "", call); print rank, call, ++seen[call] }' "$work/trace$rank" >> "$work/places"
done
places=$(wc -l < "$work/places")
((places > 0)) || fail "no file call was seen"

injected=0 survived=0 lost=0 unhurt=0 worst=0
for ((i = 0; i < count; ++i)); do
  read -r rank call k < <(sed -n "$((1 + i * places / count))p" "$work/places")
  folder=$work/run
  rm -rf -- "$folder" && cp -r -- "$work/start" "$folder"
  began=$EPOCHREALTIME
  disturbed "$folder" "$rank" -o /dev/null -e trace="$call" -e inject="$call:signal=KILL:when=$k"
  code=$?
  took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  worst=$(awk -v a="$worst" -v b="$took" 'BEGIN { print (b > a) ? b : a }')
  injected=$((injected + 1))
  name="checkpoint_kills: rank $rank at $call number $k"
  ((code != 0)) || unhurt=$((unhurt + 1))
  if result=$(timeout -k 5 20 "$victim" check "$folder" 1) && ((code != 124 && code != 137 || ${took%.*} < 30)); then
    survived=$((survived + 1))
    printf 'ok %s\n' "$name"
  else
    lost=$((lost + 1))
    printf 'not ok %s: exit %s after %s s: %s\n' "$name" "$code" "$took" "$(tr '\n' ' ' <<< "$result")"
  fi
done
((unhurt == 0)) || printf 'note: %d of the kills came after the last call\n' "$unhurt"
printf 'places %d, worst %s s\n' "$places" "$worst"
printf 'injected %d, survived %d, lost %d\n' "$injected" "$survived" "$lost"
((lost == 0 && injected == count))
