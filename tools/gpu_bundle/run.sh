#!/usr/bin/env bash
# run.sh ARCHIVE DEPLOYMENT BUNDLE [OPTION...]: on the GPU machine, from a checkout. Unpacks the archive once, makes the tiny
# model, and qualifies. WORK is where all that lies (default /tmp/vllm-qualify-gpu). The exit status is the qualification's.
set -euo pipefail
archive=$(realpath "$1") deployment=$2 bundle=$(realpath -m "$3")
shift 3
cd "$(dirname "$0")/../.."
work=${WORK:-/tmp/vllm-qualify-gpu}
export PYTHONPYCACHEPREFIX=$work/hosting/cache/pyc PYTHONDONTWRITEBYTECODE=
if [ ! -f "$work/unpacked" ]; then
    mkdir -p "$work/bin" "$work/hosting/cache"
    tar -C "$work" -xJf "$archive"
    cat > "$work/bin/vllm" <<END
#!/bin/sh
PYTHONPATH=$work/vllm exec $(command -v python3) -m vllm.entrypoints.cli.main "\$@"
END
    chmod +x "$work/bin/vllm"
    # Without byte code each of a server's processes compiles all that it imports.
    packages=$(python3 -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parents[1])')
    python3 -m compileall -q -j 0 "$work/vllm" "$packages" > "$work/compile.log" 2>&1 || true
    touch "$work/unpacked"
fi
python3 -m tools.tiny_model "$work/tiny-ernie-vl"
PATH=$work/bin:$PATH PYTHONPATH=$work/suite exec python3 -m pytest -m qualify --deployment="$deployment" \
    --snapshot-from="$work/tiny-ernie-vl" --workdir="$work/hosting" --bundle="$bundle" "$@"
