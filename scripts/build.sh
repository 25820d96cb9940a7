# Sourced by the other scripts: configures and builds one preset. Defines `root`, `jobs` and build().
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${SACCADE_JOBS:-$(nproc)}

# build PRESET [TARGET...]: into build/PRESET. One CUDA architecture, that of the device in this machine where there is
# one: the list for unknown GPUs takes minutes. Warnings are errors only with the compilers the project is kept clean for.
build() {
  local preset=$1
  shift
  local options=(-DSACCADE_BENCH=OFF)
  local capability
  if capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) && [[ $capability ]]; then
    options+=("-DCMAKE_CUDA_ARCHITECTURES=${capability/./}")
  fi
  if [[ $("${CXX:-c++}" -dumpversion) != 1[24]* ]]; then options+=(-DSACCADE_WERROR=OFF); fi
  local log
  log=$(mktemp)
  if ! (cd "$root" && cmake --preset "$preset" "${options[@]}") >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  grep -h '^-- saccade:' "$log" || true
  rm -f "$log"
  cmake --build "$root/build/$preset" --parallel "$jobs" ${1:+--target "$@"}
}
