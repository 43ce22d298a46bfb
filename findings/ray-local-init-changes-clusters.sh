#!/usr/bin/env bash
# Ray 2.60.0: a program that starts Ray in its own process changes the clusters that `ray start` begins on that machine afterwards.
#
# Valid input: `ray start --head`, and a driver that calls ray.init("127.0.0.1:PORT") without any RAY_AUTH_* variable; once before and
#   once after another program has called ray.init("local").
# Behaviour: a new local Ray has token authentication by default, and leaves its token in ~/.ray/auth_token. `ray start` makes no
#   token, but asks for one as soon as that file is there. A driver with an explicit address never sends the token by itself, though it
#   is in the same home directory: the driver that has worked before fails after 20 s with a ConnectionError which does not name the
#   token. ray.init("auto") sends it, and so does RAY_AUTH_MODE=token, which Ray reads when it is imported.
# Seen 2026-12-01 with ray 2.60.0 of PyPI, CPython 3.11.
set -euo pipefail
version=2.60.0
folder=$(mktemp -d)
head=
stop_head() {
  if [[ -n $head ]]; then kill -- "-$head" 2>/dev/null || true; wait "$head" 2>/dev/null || true; fi
  head=
}
trap 'stop_head; rm -rf -- "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q "ray==$version"
export HOME=$folder/home PATH=$folder/venv/bin:$PATH RAY_worker_niceness=0
unset RAY_AUTH_MODE RAY_AUTH_TOKEN RAY_AUTH_TOKEN_PATH RAY_ADDRESS
mkdir "$HOME"
ray --version

expect() { # WHAT EXPECTED SEEN
  echo "$1: $3"
  [[ $2 == "$3" ]] || { echo "changed: it was $2"; exit 1; }
}
start_head() {
  port=$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  setsid ray start --head "--port=$port" --num-cpus=1 --include-dashboard=false --disable-usage-stats --block >"$folder/head.log" 2>&1 &
  head=$!
  for _ in {1..300}; do
    if grep -qs 'Ray runtime started' "$folder/head.log"; then return; fi
    sleep 0.2
  done
  cat "$folder/head.log"
  exit 2
}
drive() { # ADDRESS
  python - "$1" 2>"$folder/errors" <<'PYTHON' || true
import sys
import ray
try:
    ray.init(sys.argv[1], log_to_driver=False, logging_level="ERROR")
    print(ray.get(ray.remote(lambda: "joined").remote()))
except Exception as error:
    print(type(error).__name__, "names the token" if "token" in str(error).lower() else "does not name the token")
PYTHON
}
token() { if [[ -e $HOME/.ray/auth_token ]]; then echo there; else echo absent; fi; }

start_head
expect "token after the first ray start" absent "$(token)"
expect "driver by address" joined "$(drive "127.0.0.1:$port")"
stop_head
python -c 'import ray; ray.init("local", num_cpus=1, include_dashboard=False, logging_level="ERROR")' 2>"$folder/errors"
expect "token after ray.init(\"local\")" there "$(token)"
start_head
expect "driver by address" "ConnectionError does not name the token" "$(drive "127.0.0.1:$port")"
expect "driver by auto" joined "$(drive auto)"
expect "driver by address with RAY_AUTH_MODE=token" joined "$(RAY_AUTH_MODE=token drive "127.0.0.1:$port")"
