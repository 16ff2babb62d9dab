#!/usr/bin/env bash
# Makes .venv with the pinned packages and the project in it; does nothing when nothing changed.
# With --fingerprint it prints what the stamp of a finished environment says.
# As root on Debian or Ubuntu it installs missing system packages, otherwise it names them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C.UTF-8 PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

readonly STAMP=.venv/.complete

fingerprint() {
    { cat constraints.txt pyproject.toml hatch_build.py deploy/setup.sh; find relay/compiled -name '*.p[yx][xd]' | sort | xargs sha256sum; } |
        sha256sum | cut -d' ' -f1
}

# A Python that can make virtual environments, 3.11 or later.
find_python() {
    local candidate
    for candidate in python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

# Whether some JDK or JRE 17 or 21 is here; the program that starts the servers looks more closely.
has_java() {
    local java
    for java in "${ROMA_JAVA_HOME:-}/bin/java" "${JAVA_HOME:-}/bin/java" "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
        if [ -x "$java" ] && "$java" -version 2>&1 </dev/null | grep -qE 'version "(17|21)[."]'; then
            return
        fi
    done
    return 1
}

# Whether compiled modules can be built: a C compiler, and the headers of the Python that runs.
has_compiler() {
    command -v cc >/dev/null &&
        "$(find_python)" -c 'import sys, sysconfig; from pathlib import Path; sys.exit(not Path(sysconfig.get_path("include"), "Python.h").exists())'
}

first_known_package() {
    local package
    for package in "$@"; do
        if apt-cache policy "$package" 2>/dev/null | grep -qE 'Candidate: [0-9]'; then
            echo "$package"
            return
        fi
    done
    echo "$1"
}

install_packages() {
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "Missing: $*. Install these packages (Debian names), or run as root on Debian or Ubuntu." >&2
        exit 1
    fi
    echo "installing the system packages $*" >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

ensure_system() {
    local missing_python='' missing_java=''
    find_python >/dev/null || missing_python=1
    has_java || missing_java=1
    if [ -z "$missing_python$missing_java" ]; then
        ensure_compiler
        return
    fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
    fi
    [ -z "$missing_python" ] || install_packages python3 python3-venv
    [ -z "$missing_java" ] || install_packages "$(first_known_package openjdk-17-jre-headless openjdk-21-jre-headless)"
    find_python >/dev/null || { echo "Python 3.11 or later is needed; python3 here is $(python3 --version 2>&1)." >&2; exit 1; }
    ensure_compiler
}

# Without a compiler the project works, slower: it is brought where that is possible, and otherwise named.
ensure_compiler() {
    if has_compiler; then
        return
    fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && (install_packages gcc libc6-dev python3-dev) || true
    fi
    has_compiler || echo "No C compiler, or no headers of $("$(find_python)" --version): nothing will be compiled, and rows are printed" \
        "slower. Install gcc, libc6-dev and python3-dev (Debian names), then: rm .venv/.complete && make setup." >&2
}

# Other checkouts of the same sources take the compiled modules from the cache (hatch_build.py).
keep_compiled_modules() {
    local shared=${XDG_CACHE_HOME:-}
    [[ $shared == /* ]] || shared=${HOME:+$HOME/.cache}
    local cache=${ROMA_CACHE:-${shared:+$shared/roma}}
    [ -z "$cache" ] || export ROMA_COMPILED_MODULES=$cache/compiled
}

make_environment() {
    local python
    python=$(find_python)
    keep_compiled_modules
    echo "making .venv with $("$python" --version)" >&2
    [ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear .venv
    # Without bytecode: the programs that import a module keep it, and most modules are never imported.
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --use-pep517 --require-hashes -r constraints.txt
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
    fingerprint >"$STAMP"
}

if [ "${1:-}" = --fingerprint ]; then
    fingerprint
    exit
fi
if [ "$(cat "$STAMP" 2>/dev/null)" != "$(fingerprint)" ] || ! .venv/bin/python -c '' 2>/dev/null; then
    ensure_system
    make_environment
fi
