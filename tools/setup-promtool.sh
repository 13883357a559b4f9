#!/usr/bin/env bash
# Makes sure that the test of the alert rules finds promtool: on Debian taken out of its package
# (19 MB, a few seconds) into the virtual environment; nothing is installed. Without one that test is
# skipped, so this never fails. Usage: tools/setup-promtool.sh DIRECTORY
set -euo pipefail
place=${1:-.venv}/bin

command -v promtool >/dev/null || [ -x "$place/promtool" ] && exit 0

unpack() {
    local folder status=0
    folder=$(mktemp -d)
    (
        cd "$folder"
        apt-get download -qq prometheus 2>/dev/null ||
            { [ "$(id -u)" = 0 ] && apt-get update -qq && apt-get download -qq prometheus 2>/dev/null; }
        dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin/promtool
    ) && mv "$folder/usr/bin/promtool" "$place/promtool" || status=$?
    rm -rf "$folder"
    return "$status"
}

if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
    echo "Unpacking promtool for the test of the alert rules"
    unpack && exit 0
fi

{
    echo "No promtool was found: the test of the alert rules will be skipped."
    echo "Install Prometheus, and put promtool on PATH."
} >&2
