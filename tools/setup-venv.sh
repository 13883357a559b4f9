#!/usr/bin/env bash
# Creates a virtual environment with the locked packages and Headgate, editable; or adds PySpark to it,
# which takes four times as long as all other packages: other work can go on beside it.
# Usage: tools/setup-venv.sh DIRECTORY [pyspark]; PYTHON=... chooses the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-.venv}

# Modules are compiled when they are first imported; most of the packages' never are.
with_pip() { "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-compile "$@"; }
# uv downloads and unpacks side by side, in half of pip's time; it does not read pip's settings, so
# where packages come from somewhere else pip takes over.
with_uv() { "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" "$@"; }

# The lines of requirements.lock of one package, or with "not" of all others.
locked() {
    awk -v name="$1==" -v other="${2:-}" \
        '/^[^ ]/ { is = index($0, name) == 1 } (other == "") == is' requirements.lock
}

install() {
    with_uv --require-hashes --no-deps -r "$1" && return
    echo "uv could not install them; trying pip, which takes longer"
    with_pip --require-hashes --no-deps -r "$1"
}

lock=$(mktemp)
trap 'rm -f "$lock"' EXIT
if [ "${2:-}" = pyspark ]; then
    echo "Installing PySpark (it is large; this takes half a minute or so)"
    locked pyspark >"$lock"
    install "$lock"
    exit 0
fi

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3.11 python3}; do
        if is_recent "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "Headgate needs Python 3.11 or newer; tried: ${PYTHON:-python3.11 python3}." >&2
    echo "Install it, or name it: make venv PYTHON=/path/to/python3.11" >&2
    return 1
}

# Debian ships venv without ensurepip; virtualenv brings its own pip and leaves the system alone.
with_virtualenv() {
    local bootstrap status=0
    bootstrap=$(mktemp -d)
    "$python" -m pip install -qq --disable-pip-version-check --target "$bootstrap" virtualenv &&
        PYTHONPATH="$bootstrap" "$python" -m virtualenv --quiet --clear "$venv" || status=$?
    rm -rf "$bootstrap"
    return "$status"
}

with_apt() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null &&
        "$python" -m venv --clear "$venv"
}

python=$(find_python)
echo "Creating $venv with $("$python" --version)"
if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    "$python" -m venv --clear "$venv"
elif ! with_virtualenv && ! with_apt; then
    echo "Could not create $venv: install python3-venv (or virtualenv) and run make again." >&2
    exit 1
fi

echo "Installing the locked packages"
locked uv >"$lock"
with_pip --require-hashes -r "$lock"
locked pyspark not >"$lock"
install "$lock"
echo "Installing headgate, editable"
with_pip --no-deps --no-build-isolation --editable .
