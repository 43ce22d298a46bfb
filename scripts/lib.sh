# shellcheck shell=bash
# Functions that the scripts share: they name the repository's folders, choose CMake and the CUDA compiler, and configure and build presets.
#
# Sourcing it sets a few variables and defines functions. Messages go to standard error, results to standard output.
#
# Environment variables:
#   CUTPOINT_JOBS  number of parallel compile and test jobs; default: one for each processor, fewer where memory is short

root=$(CDPATH='' cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
readonly root
unset "${!PYTHON@}" # what the user's own programs need may break the scripts' Python
# shellcheck disable=SC2034  # for the scripts that source this
readonly scripts=$root/scripts
readonly deps=$root/.deps              # fetched files, never committed
readonly cuda_venv=$deps/cuda          # CUDA compiler and CMake from PyPI; complete only when it holds its stamp
readonly cuda_stamp=$cuda_venv/stamp
readonly cuda_refused=$deps/no-cuda    # exists if the user gave --no-cuda
readonly cuda_asked=$deps/with-cuda    # exists if the user gave --cuda

# shellcheck disable=SC2034
readonly arm64=$deps/arm64             # AArch64's libraries; complete only with their stamp
# shellcheck disable=SC2034
readonly arm64_system=$arm64/system arm64_stamp=$arm64/stamp
# shellcheck disable=SC2034
readonly avx512=$deps/avx512           # the Linux that an emulated machine boots

readonly cuda_wheels='cuda-toolkit[nvcc,cudart,cccl,crt]==13.0.*'
readonly cmake_wheel='cmake>=3.30,<4.1'
readonly cmake_wanted=3.30             # the oldest that knows CUDA 13
readonly cuda_wanted=13.0              # the oldest version that cuda/CMakeLists.txt takes

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# on_path NAME: prints the path of a command if it exists.
on_path() { command -v -- "$1" || true; }

# version_at_least HAVE WANT: compares dotted version numbers.
version_at_least() {
  [[ -n $1 ]] && printf '%s\n%s\n' "$2" "$1" | sort --check=quiet --version-sort
}

# emulates: whether this machine can emulate other processors. Emulators are set up on x86-64 only.
emulates() { [[ $(uname -m) == x86_64 ]]; }

# job_count: prints the number of parallel jobs: one for each processor, if each has 1.5 GiB of free memory, which a large source takes.
job_count() {
  local processors available_kib by_memory
  if [[ -n ${CUTPOINT_JOBS:-} ]]; then
    printf '%s\n' "$CUTPOINT_JOBS"
    return
  fi
  processors=$(nproc)
  available_kib=$(awk '$1 == "MemAvailable:" {print $2}' /proc/meminfo 2>/dev/null || true)
  by_memory=$((${available_kib:-0} / 1572864))
  if ((available_kib > 0 && by_memory < processors)); then
    processors=$((by_memory > 0 ? by_memory : 1))
  fi
  printf '%s\n' "$processors"
}

# --- Python of the experiments ----------------------------------------------------------------------------------------------------------

# experiments_python: prints the path of the Python in a virtual environment with the packages for sweeps and reports. The environment is
# made anew when requirements.txt changes.
experiments_python() {
  local venv=$deps/experiments requirements=$root/bench/experiments/requirements.txt wanted
  wanted=$(sha256sum <"$requirements")
  mkdir -p -- "$deps"
  (
    flock 9
    if [[ -e $venv/stamp && $(<"$venv/stamp") == "$wanted" ]]; then exit; fi
    say "fetching Python packages into .deps/experiments…"
    python3 -m venv --clear "$venv" >&2 9>&- &&
      "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements" >&2 9>&- &&
      printf '%s\n' "$wanted" >"$venv/stamp"
  ) 9>"$deps/experiments.lock" || die "no Python packages for the experiments: see above"
  printf '%s\n' "$venv/bin/python"
}

# --- CUDA and CMake: the machine's own if they are new enough, else from PyPI ------------------------------------------------------

# nvcc_version FILE: prints the version of a CUDA compiler, such as 12.4; nothing if it does not say one.
nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' || true; }

# machine_nvccs: prints the paths of the machine's CUDA compilers, one on each line.
machine_nvccs() {
  local nvcc
  for nvcc in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$(on_path nvcc)" /usr/local/cuda/bin/nvcc; do
    if [[ -n $nvcc && -x $nvcc ]]; then printf '%s\n' "$nvcc"; fi
  done | awk '!told[$0]++'
}

# machine_nvcc: prints the path of the machine's CUDA compiler if one is new enough.
machine_nvcc() {
  local nvcc
  while read -r nvcc; do
    if version_at_least "$(nvcc_version "$nvcc")" "$cuda_wanted"; then
      printf '%s\n' "$nvcc"
      return
    fi
  done < <(machine_nvccs)
}

# machine_cmake: prints the path of the machine's CMake if it is new enough for CUDA.
machine_cmake() {
  local cmake version
  cmake=$(on_path cmake)
  [[ -n $cmake ]] || return 0
  version=$("$cmake" --version | sed -n '1s/^cmake version //p')
  if version_at_least "$version" "$cmake_wanted"; then printf '%s\n' "$cmake"; fi
}

# wanted_wheels: prints the PyPI packages that the machine lacks for CUDA, one on each line.
wanted_wheels() {
  [[ -n $(machine_nvcc) ]] || printf '%s\n' "$cuda_wheels"
  [[ -n $(machine_cmake) ]] || printf '%s\n' "$cmake_wheel"
}

# pick_tool NAME: prints the path of cmake, cpack or ctest. One that was fetched from PyPI is preferred.
pick_tool() {
  local fetched=$cuda_venv/tools/$1
  if [[ -e $cuda_stamp && ! -e $cuda_refused && -x $fetched ]]; then
    printf '%s\n' "$fetched"
  else
    command -v -- "$1" || die "no $1 here; scripts/setup installs it"
  fi
}

# command_has_cuda: whether scripts/cutpoint builds the GPU's code too: where a GPU's driver runs, where the user asked for it, or where
# build/release has it, as after scripts/test.
command_has_cuda() {
  if [[ -e $cuda_refused ]]; then return 1; fi
  [[ -e $cuda_asked || -e /proc/driver/nvidia/version || -e /dev/dxg ]] ||
    grep -qse -DCMAKE_CUDA_COMPILER= -- "$(build_folder release)/.configured"
}

# pick_nvcc: prints the path of the CUDA compiler to build with, unless there is none, CMake is too old, or the user or the script
# (`without_cuda`) refused it.
pick_nvcc() {
  local nvcc
  if [[ -e $cuda_refused || -n ${without_cuda:-} ]]; then return; fi
  nvcc=$(machine_nvcc)
  if [[ -z $nvcc && -e $cuda_stamp && -x $cuda_venv/toolkit/bin/nvcc ]]; then nvcc=$cuda_venv/toolkit/bin/nvcc; fi
  if [[ -e $cuda_stamp || -n $(machine_cmake) ]]; then printf '%s' "$nvcc"; fi
}

# report_passed_over NVCC: says which CUDA compilers of the machine are not used and why, if none is, and what is done instead. NVCC is the
# one that compiles, or empty.
report_passed_over() {
  local nvcc version instead="the build is for the CPU only (scripts/setup fetches what it takes)"
  if [[ -e $cuda_refused || -n ${without_cuda:-} ]]; then return; fi
  if [[ -n $1 ]]; then instead="$1 compiles"; fi
  nvcc=$(machine_nvcc)
  if [[ -n $nvcc && -z $1 ]]; then say "$nvcc is not used: it takes CMake $cmake_wanted or newer; $instead"; fi
  if [[ -n $nvcc ]]; then return; fi
  while read -r nvcc; do
    version=$(nvcc_version "$nvcc")
    say "$nvcc is not used: CUDA $cuda_wanted or newer is needed, and this is ${version:-of an unknown version}; $instead"
  done < <(machine_nvccs)
}

# cuda_arguments PRESET: prints CMake's arguments for CUDA, one on each line. Presets without CUDA have none.
cuda_arguments() {
  local nvcc
  case $1 in
    release | cuda | bundle | package) ;;
    *) return ;;
  esac
  nvcc=$(pick_nvcc)
  report_passed_over "$nvcc"
  if [[ -n $nvcc ]]; then
    printf '%s\n' "-DCMAKE_CUDA_COMPILER=$nvcc"
  elif [[ $1 == release || $1 == package ]]; then
    printf '%s\n' -DCUTPOINT_CUDA=OFF
  fi
}

# --- Presets ------------------------------------------------------------------------------------------------------------------------

build_folder() { printf '%s/build/%s\n' "$root" "$1"; }

# configure PRESET: configures a preset, from scratch if the folder was configured with other tools or at another path. `fewer_tests`, which
# scripts/test sets, chooses whether many tests are run in one build alone.
configure() {
  local preset=$1 folder cmake key
  local -a arguments
  folder=$(build_folder "$preset")
  cmake=$(pick_tool cmake)
  mapfile -t arguments < <(cuda_arguments "$preset")
  key="$root $cmake ${arguments[*]}"
  mkdir -p -- "$folder"
  if [[ -e $folder/.configured && $(<"$folder/.configured") != "$key" ]]; then arguments+=(--fresh); fi
  arguments+=(${fewer_tests:+"-DCUTPOINT_FEWER_TESTS=$fewer_tests"})
  (cd -- "$root" && "$cmake" --preset "$preset" "${arguments[@]}")
  printf '%s\n' "$key" >"$folder/.configured"
}

# build PRESET [TARGET...]: configures and builds everything or these targets. A lock lets one build run at a time in each folder.
#
# The stamp `.built`, or `.built-engine` for the target cli/cutpoint-engine, has the time when the build began. So a source that changes
# during the build counts as newer.
build() {
  local preset=$1 stamp=.built folder cmake
  if [[ ${2:-} == cli/cutpoint-engine ]]; then stamp+=-engine; fi
  folder=$(build_folder "$preset")
  mkdir -p -- "$folder"
  (
    set -e
    flock 9
    touch -- "$folder/.building"
    configure "$preset"
    cmake=$(pick_tool cmake)
    cd -- "$root"
    "$cmake" --build --preset "$preset" --parallel "$(job_count)" ${2:+--target} "${@:2}" 9>&-
    mv -- "$folder/.building" "$folder/$stamp"
  ) 9>"$folder/.lock"
}
