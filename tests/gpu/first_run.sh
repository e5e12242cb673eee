#!/usr/bin/env bash
# The first run on a machine with a GPU and without a network: see README.md beside this file.
#
#   first_run.sh install WHEELS         once: a folder of packages from the carried wheels
#   first_run.sh STEP [RESULTS]         correctness, operators, order, kernels, pipeline, frameworks
#
# Every step takes less than ten minutes, and leaves STEP.json in RESULTS (by default ./results):
# the device, the date, the exit status, the seconds and what was printed last.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
packages=${DALI_CORE_PACKAGES:-$root/build/first_run}
python=${PYTHON:-python3}
seconds=${DALI_CORE_STEP_SECONDS:-570}
steps="correctness operators order kernels pipeline frameworks"

fail() {
  echo "first_run.sh: $1" >&2
  exit 2
}

# The wheels of nvImageCodec and nvJPEG have nvidia/__init__.py or folders in the namespace package
# `nvidia`, which CUDA's own packages are parts of, too: without such a file all of them are found.
install() {
  local wheels=${1:?first_run.sh: install needs the folder of wheels}
  mkdir -p "$packages"
  "$python" -m pip install --no-index --no-deps --no-compile --upgrade --target "$packages" \
    "$wheels"/*.whl
  rm -f "$packages/nvidia/__init__.py"
  # The tests come from the checkout, whose own folder of the library has no native modules.
  rm -rf "$packages/checkout"
  mkdir -p "$packages/checkout"
  cp -r "$root/tests" "$root/benchmarks" "$root/building" "$root/examples" \
    "$root/pyproject.toml" "$packages/checkout"
  "$python" -c "import sys; sys.path.insert(0, '$packages'); import dali_core; print(dali_core.__file__)"
}

command_of() {
  local tests="$python -m pytest -q -p no:cacheprovider -m gpu"
  case $1 in
    correctness) echo "$tests tests/gpu/test_kernels.py tests/gpu/test_conversions.py tests/gpu/test_memory.py" ;;
    operators) echo "$tests tests/gpu/test_operators.py" ;;
    order)
      # Nothing more than this: the sanitizer makes everything many times slower.
      local sanitizer=""
      command -v compute-sanitizer >/dev/null && sanitizer="compute-sanitizer --error-exitcode 9 --tool memcheck"
      echo "$sanitizer $tests tests/gpu/test_order.py"
      ;;
    kernels) echo "$python -m benchmarks.gpu --without-pipeline ${DALI_CORE_QUICK:+--quick}" ;;
    pipeline) echo "$python -m benchmarks.gpu --without-kernels --peers ours ${DALI_CORE_QUICK:+--quick}" ;;
    frameworks) echo "$tests tests/gpu/test_frameworks.py tests/gpu/test_exchange.py tests/gpu/test_decoding.py" ;;
    *) fail "a step must be install or one of $steps (got $1)." ;;
  esac
}

run() {
  local step=$1 results
  results=$(realpath -m "${2:-results}")
  local command status=0 begin=$SECONDS
  command=$(command_of "$step") || exit 2
  [ -d "$packages/checkout" ] || fail "install must come first (no $packages)."
  mkdir -p "$results"
  export PYTHONPATH=$packages:$packages/checkout DALI_CORE_REQUIRE_GPU=1
  cd "$packages/checkout"
  echo "$command"
  # shellcheck disable=SC2086
  timeout "$seconds" $command 2>&1 | tee "$results/$step.log" || status=$?
  if [ -d benchmarks/results ]; then cp -r benchmarks/results "$results/$step-results"; fi
  "$python" - "$results" "$step" "$status" "$((SECONDS - begin))" "$command" <<'PYTHON'
import datetime
import json
import pathlib
import platform
import sys

folder, step, status, seconds, command = sys.argv[1:]
try:
    from dali_core import cuda

    device = cuda.device_name(0)
except Exception as error:  # the record has to say it
    device = f"none ({error})"
printed = pathlib.Path(folder, f"{step}.log").read_text(errors="replace")
record = {
    "step": step,
    "device": device,
    "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    "python": platform.python_version(),
    "command": command,
    "exit_status": int(status),
    "seconds": int(seconds),
    "printed": printed[-8000:],
}
pathlib.Path(folder, f"{step}.json").write_text(json.dumps(record, indent=1) + "\n")
print(json.dumps({key: record[key] for key in ("step", "device", "exit_status", "seconds")}))
PYTHON
  return "$status"
}

case ${1:-} in
  install) install "${2:-}" ;;
  "") fail "a step is missing: install WHEELS, or one of $steps." ;;
  *) run "$@" ;;
esac
