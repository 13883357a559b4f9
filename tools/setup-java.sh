#!/usr/bin/env bash
# Makes sure that Spark finds Java 17 or newer; installs it when root on Debian or Ubuntu.
set -euo pipefail
oldest=17

java_version() { # the major version of the Java that Spark would start; 0 when there is none
    local java=java line
    [ -z "${JAVA_HOME:-}" ] || java="$JAVA_HOME/bin/java"
    line=$("$java" -version 2>&1 | grep -m1 ' version "') || { echo 0; return; }
    line=${line#*\"}
    echo "${line%%[!0-9]*}"
}

found=$(java_version)
[ "$found" -lt "$oldest" ] || exit 0

if [ -z "${JAVA_HOME:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Java for Spark (openjdk-17-jre-headless)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    # Debian releases after 12 carry a newer Java only.
    apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless >/dev/null ||
        apt-get install -y -qq --no-install-recommends default-jre-headless >/dev/null
    found=$(java_version)
    [ "$found" -lt "$oldest" ] || exit 0
fi

{
    if [ "$found" = 0 ]; then
        echo "Spark needs Java $oldest or newer; none was found${JAVA_HOME:+ in JAVA_HOME=$JAVA_HOME}."
    else
        echo "Spark needs Java $oldest or newer; found Java $found${JAVA_HOME:+ in JAVA_HOME=$JAVA_HOME}."
    fi
    echo "Debian, Ubuntu:  sudo apt-get install openjdk-17-jre-headless"
    echo "elsewhere:       install a Java $oldest runtime and put it on PATH or in JAVA_HOME"
} >&2
exit 1
