#!/usr/bin/env bash
# Trains any deck on any number of ranks of this machine, under mpirun.
#
#   bash jobscripts/local.sh DECK [RANKS] [options of maxplus train]
#
# RANKS may exceed the cores (default 1). Started again with the same run folder, the run is resumed.
# To save and stop: kill -USR1 <the process that is named at the start>; the exit code is then 75.
# MAXPLUS_BUILD   build folder (default build/)
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
program=${MAXPLUS_BUILD:-$root/build}/maxplus

case ${1:-} in
  "" | -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; [[ -n ${1:-} ]] && exit 0; exit 64 ;;
esac
deck=$1 ranks=1
shift
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  ranks=$1
  shift
fi
fail() {  # fail CODE TEXT ADVICE
  printf 'local: error: %s\n  try: %s\n' "$2" "$3" >&2
  exit "$1"
}
[[ -f $deck ]] || fail 66 "no deck '$deck'" "one of inputs/"
[[ -x $program ]] || fail 69 "no program '$program'" "bash jobscripts/setup.sh"
command -v mpirun >/dev/null || fail 69 "no mpirun" "bash jobscripts/setup.sh, or your site's MPI module"

# shellcheck source=jobscripts/mpi_environment.sh
source "$root/jobscripts/mpi_environment.sh"
printf '[local] %s ranks; to save and stop: kill -USR1 %s\n' "$ranks" "$$" >&2
exec mpirun -n "$ranks" "$program" train "$deck" "$@"
