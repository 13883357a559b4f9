#!/usr/bin/env bash
# Compiles the modules that Spark's Python workers load, as pip does when it installs for users.
# Where PYTHONDONTWRITEBYTECODE is set, as in many containers, every worker would compile them again,
# in 1.6 s of processor time.
# Usage: tools/compile-modules.sh DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(cd "${1:-.venv}" && pwd)/bin/python
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "Compiling what Spark's workers load"
# Some packages carry files for other versions of Python, which do not compile.
"$python" -m compileall -q -j 2 src >/dev/null || true
cd "$packages"
"$python" -m compileall -q -j 2 -x '/tests?/' \
    numpy pandas pyarrow pyspark py4j google dateutil six.py typing_extensions.py >/dev/null || true
