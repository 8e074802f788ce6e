#!/usr/bin/env bash
# The shared first half of every job: installs the packages that are missing, configures with Ninja and builds.
#
#   bash jobscripts/setup.sh [--tests] [--packages-only] [--keep-going] [--target NAME]... [-DKEY=VALUE]...
#
# --tests          also the test packages, and the tests are built
# --packages-only  stop after the packages
# --keep-going     build what can be built, even after an error
# --target NAME    build only this (default: maxplus; with --tests everything)
# -DKEY=VALUE      handed to CMake
#
# MAXPLUS_BUILD    the build folder (default: build/ beside this folder)
# MAXPLUS_JOBS     compilers at once (default: one a core, and at most one for each 2 GiB of memory)
# MAXPLUS_PACKAGES=skip   never look for packages: for machines whose libraries come from modules
#
# Packages are Debian 12's. As root, or with a sudo that asks nothing, they are installed; otherwise the one line to run
# is printed and the exit code is 69. Where there is no apt, CMake is left to find what the machine offers.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
build=$(realpath -m -- "${MAXPLUS_BUILD:-$root/build}")

packages=(g++ cmake ninja-build pkg-config git ca-certificates libopenmpi-dev openmpi-bin libtrilinos-kokkos-dev
  libhdf5-openmpi-dev libcli11-dev libtomlplusplus-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libpcre2-dev
  librandom123-dev libxxhash-dev libgmp-dev)
test_packages=(libgtest-dev python3 strace)

say() { printf '[setup %4ds] %s\n' "$SECONDS" "$*"; }
fail() {  # fail CODE TEXT EXPECTED ADVICE
  printf 'setup: error: %s\n  expected: %s\n  try: %s\n' "$2" "$3" "$4" >&2
  exit "$1"
}

tests=no packages_only=no keep_going=() targets=() definitions=()
while (($#)); do
  case $1 in
    --tests) tests=yes ;;
    --packages-only) packages_only=yes ;;
    --keep-going) keep_going=(-k 0) ;;
    --target) (($# > 1)) || fail 64 "--target without a name" "--target NAME" "--target maxplus"; targets+=("$2"); shift ;;
    -D*=*) definitions+=("$1") ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) fail 64 "unknown argument '$1'" "one of the options that --help lists" "bash jobscripts/setup.sh --help" ;;
  esac
  shift
done

# Runs a command with its output in the log; says now and then what its last line was; shows the end on failure.
quietly() {  # quietly WHAT COMMAND...
  local what=$1 last next=$((SECONDS + 5)) status=0 pid
  shift
  printf '\n== %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS >= next)); then
      last=$(tail -n 1 -- "$log" | tr -d '\r' | cut -c 1-100)
      say "$what: $last"
      next=$((SECONDS + 5))
    fi
  done
  wait "$pid" || status=$?
  if ((status)); then
    say "$what: ended with exit code $status; the last lines of $log:"
    tail -n 15 -- "$log" >&2
  fi
  return "$status"
}

missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' "${packages[@]}" 2>/dev/null || true)"
  for package in "${packages[@]}"; do
    [[ $installed == *" $package:installed "* ]] || printf '%s\n' "$package"
  done
}

apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 \
  -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 -o Acquire::http::Timeout=30 "$@"; }
apt_install() { apt_get install --no-install-recommends "${missing[@]}"; }
repair_and_update() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a
  apt_get update
}
have_lists() { compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }

install_packages() {
  local -a missing as_root=()
  if [[ ${MAXPLUS_PACKAGES:-} == skip ]] || ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "packages: not looked for; CMake takes what this machine offers"
    return
  fi
  [[ $tests == no ]] || packages+=("${test_packages[@]}")
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    say "packages: all ${#packages[@]} are there"
    return
  fi
  local line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    elif command -v sudo >/dev/null && [[ -t 0 && -t 1 ]] && sudo -v; then
      as_root=(sudo)
    else
      fail 69 "${#missing[@]} packages are missing, and this account may not install them" \
        "root, or a sudo that asks for no password" "run once as root, then start again: $line"
    fi
  fi
  say "packages: installing ${#missing[@]} of ${#packages[@]}: ${missing[*]}"
  if ! have_lists; then
    quietly "package lists" apt_get update || true
  fi
  if ! quietly "packages" apt_install; then
    say "packages: once more with new package lists"
    quietly "package lists" repair_and_update || true
    quietly "packages" apt_install || fail 69 "apt-get could not install: ${missing[*]}" \
      "Debian 12 (bookworm) with its package server in reach" "run as root: $line"
  fi
  say "packages: installed"
}

cached() {  # the value of a key in CMake's cache, or nothing
  [[ ! -f $build/CMakeCache.txt ]] || sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

# Configuring again is only needed if something that we ask for differs from the cache; Ninja sees changed CMake files.
configure() {
  local home definition key again=no
  home=$(cached CMAKE_HOME_DIRECTORY)
  if [[ -n $home && $home != "$root" ]]; then
    say "configure: $build was made for $home; starting it anew"
    rm -rf -- "$build/CMakeCache.txt" "$build/CMakeFiles" "$build/build.ninja"
  fi
  if [[ $tests == yes ]]; then
    definitions+=(-DMAXPLUS_TESTS=ON)
  elif [[ -z $(cached MAXPLUS_TESTS) ]]; then
    definitions+=(-DMAXPLUS_TESTS=OFF)
  fi
  for definition in "${definitions[@]}"; do
    key=${definition#-D}
    [[ $(cached "${key%%[:=]*}") == "${key#*=}" ]] || again=yes
  done
  if [[ $again == no && -f $build/build.ninja ]]; then
    say "configure: done before"
    return
  fi
  if command -v ccache >/dev/null; then
    definitions+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  say "configure: $build"
  quietly "configure" cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE="${MAXPLUS_BUILD_TYPE:-Release}" -DMAXPLUS_QUICK=ON \
    "${definitions[@]}" || fail 69 "CMake could not configure the build" "the libraries that cmake/Dependencies.cmake looks for" \
    "read $log; on another system than Debian, load the modules first"
}

job_count() {
  local cores gib
  cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)  # nproc would take those for the number of cores
  gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576 / 2) }' /proc/meminfo 2>/dev/null || true)
  gib=${gib:-$cores}
  echo $((cores < gib ? cores : (gib > 1 ? gib : 1)))
}

# On a terminal Ninja draws its own line; elsewhere one line in ten seconds, and every line that is not progress.
compile() {
  local line next=0 status=0
  local -a command=(ninja -C "$build" -j "${MAXPLUS_JOBS:-$(job_count)}" "${keep_going[@]}" "${targets[@]}")
  export NINJA_STATUS="[build %f/%t] "
  say "build: ${targets[*]:-everything}"
  if [[ -t 1 ]]; then
    "${command[@]}" || status=$?
  else
    while IFS= read -r line; do
      if [[ $line == "@exit "* ]]; then
        status=${line#@exit }
      elif [[ $line == "[build 0/"* ]]; then
        continue  # looks whether files were added
      elif [[ $line == "[build "* ]]; then
        ((SECONDS >= next)) || continue
        next=$((SECONDS + 10))
        say "build: ${line%% Building*}"
      elif [[ $line != "ninja: "@("Entering"|"no work")* ]]; then
        printf '%s\n' "$line"
      fi
    done < <("${command[@]}" 2>&1 || echo "@exit $?")
  fi
  return "$status"
}

export CCACHE_SLOPPINESS=pch_defines,time_macros  # else it would not keep what is compiled with precompiled headers
say "maxplus in $root"
mkdir -p -- "$build" || fail 73 "cannot create $build" "a folder that can be written" "MAXPLUS_BUILD=<folder>"
log=$build/setup-log.txt
exec 9>"$build/.setup-lock"
if ! flock -n 9; then
  say "waiting: another set-up works in $build"
  flock 9
fi
: >"$log"
install_packages
[[ $packages_only == no ]] || exit 0
configure
if [[ $tests == no && ${#targets[@]} == 0 ]]; then
  targets=(maxplus)
fi
compile
say "ready: $build"
