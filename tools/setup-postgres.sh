#!/usr/bin/env bash
# Makes sure that the tests of lookups find a PostgreSQL server; installs it when root on Debian or
# Ubuntu. Without one those tests are skipped, so this never fails.
set -euo pipefail

has_server() { command -v pg_ctl >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/pg_ctl' >/dev/null; }

has_server && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing PostgreSQL for the tests (postgresql)"
    export DEBIAN_FRONTEND=noninteractive
    quietly=(apt-get install -y -qq --no-install-recommends)
    # The tests start a server of their own: Debian need not set one up and start it.
    apt-get update -qq && "${quietly[@]}" postgresql-common >/dev/null &&
        sed -ri 's/^#?(create_main_cluster) .*$/\1 = false/' \
            /etc/postgresql-common/createcluster.conf &&
        "${quietly[@]}" postgresql >/dev/null || true
    has_server && exit 0
fi

{
    echo "No PostgreSQL server was found: the tests that need one will be skipped."
    echo "Debian, Ubuntu:  sudo apt-get install postgresql"
    echo "elsewhere:       install PostgreSQL and put initdb and pg_ctl on PATH"
} >&2
