#!/usr/bin/env bash
# Builds a wheel with compiled modules for each CPython here: `build.sh [FOLDER [PYTHON...]]`, by default `dist` and
# python3.11, python3.12 and python3.13 where they are installed with their headers. Needs no C compiler: `ziglang`
# from the package index compiles against an old glibc, which the wheel's name states. auditwheel checks the name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C.UTF-8

readonly GLIBC=2.17
MACHINE=$(uname -m)
readonly MACHINE
readonly PLATFORM="manylinux_${GLIBC/./_}_$MACHINE"

has_headers() {
    "$1" -c 'import sys, sysconfig; from pathlib import Path; sys.exit(not Path(sysconfig.get_path("include"), "Python.h").exists())' 2>/dev/null
}

# The sources alone: compiled modules of the checkout stay as they are, and none of them gets into a wheel.
copy_sources() {
    cp pyproject.toml hatch_build.py README.md LICENSE "$1"
    cp -r relay api spark_jobs roma_client canal_server "$1"
    find "$1" \( -name '*.so' -o -name '*.pyc' \) -delete
}

# build PYTHON INTO: one wheel, checked.
build() {
    local python=$1 into=$2 work=$3 wheel zig
    "$python" -m venv "$work/tools"
    "$work/tools/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r deploy/wheels/requirements.txt
    mkdir "$work/sources" "$work/wheel"
    copy_sources "$work/sources"
    # Debian's pyconfig.h names another file by its path below /usr/include, which comes after zig's own folders.
    zig="$work/tools/bin/python -m ziglang cc -target $MACHINE-linux-gnu.$GLIBC -idirafter /usr/include"
    CC=$zig LDSHARED="$zig -shared" ZIG_GLOBAL_CACHE_DIR="$work/zig" \
        ROMA_WHEEL_PLATFORM=$PLATFORM "$work/tools/bin/python" -m pip wheel --quiet --disable-pip-version-check \
        --no-deps --no-build-isolation --wheel-dir "$work/wheel" "$work/sources"
    wheel=$(echo "$work"/wheel/*.whl)
    "$work/tools/bin/python" -m auditwheel show "$wheel" >"$work/audit"
    # auditwheel names the oldest platform that the modules fit; it must not be newer than the one of the name.
    tr '\n' ' ' <"$work/audit" | grep -qE "platform tag: \"manylinux_2_([0-9]|1[0-7])_$MACHINE\"" || { cat "$work/audit" >&2; return 1; }
    cp "$wheel" "$into"
    echo "$into/$(basename "$wheel")"
}

into=${1:-dist}
shift || true
mkdir -p "$into"
[ $# -gt 0 ] || set -- python3.11 python3.12 python3.13
built=''
for python in "$@"; do
    if has_headers "$python"; then
        work=$(mktemp -d)
        trap 'rm -rf "$work"' EXIT
        build "$python" "$into" "$work"
        rm -rf "$work"
        built=1
    fi
done
[ -n "$built" ] || { echo "None of $* is here with its headers (Debian: python3-dev)." >&2; exit 1; }
