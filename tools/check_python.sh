#!/bin/sh
# Says in one line when PYTHON cannot carry the project. Usage: check_python.sh PYTHON [venv]
set -eu

python=$1

if ! command -v "$python" >/dev/null 2>&1; then
    echo "make: $python is not there: install Python 3.11 or newer, or say which: make PYTHON=…" >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "make: $python is older than 3.11: say which one to use: make PYTHON=python3.11 …" >&2
    exit 1
fi
if [ "${2:-}" = venv ] && ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "make: $python cannot make environments: install python3-venv, or put uv on the PATH" >&2
    exit 1
fi
