#!/bin/sh
# Installs the programs that some tests need and pip cannot bring: with apt-get when it is there
# and we are root, otherwise one line per missing program says what is skipped without it.
# Only what is missing is installed. Never fails: whatever is absent is skipped, not fatal.
# Usage: sh tools/system_packages.sh [NAME]. With a name, only that program is looked at.
set -u
only=${1:-}

has_strace() { command -v strace; }
has_bubblewrap() { command -v bwrap; }
has_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
has_git() { command -v git; }
has_nginx() { command -v nginx || [ -x /usr/sbin/nginx ]; }
has_npm() { command -v node && command -v npm; }
# Only for a Python that comes from the system, and only when nothing else can make .venv.
has_venv() {
    command -v uv || python3 -c 'import ensurepip, venv' || [ "$(command -v python3)" != /usr/bin/python3 ]
}

# name | what is skipped without it | Debian packages
needs='
strace|effects seen through system calls|strace
bubblewrap|containment, and with it `sayso verify`|bubblewrap
chromium|tests of the console in a browser|chromium
git|tests with the git server|git
nginx|tests with several replicas behind a balancer|nginx-light
npm|tests with servers from npm|nodejs npm
venv|building .venv, unless uv is on the PATH|python3-venv
'

missing() {
    echo "$needs" | while IFS='|' read -r name skipped packages; do
        [ -n "$name" ] || continue
        [ -z "$only" ] || [ "$name" = "$only" ] || continue
        "has_$name" >/dev/null 2>&1 || echo "$name|$skipped|$packages"
    done
}

is_debian_root() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

install_missing() {
    packages=$(missing | cut -d '|' -f 3 | tr '\n' ' ')
    echo "installing with apt-get: $packages"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq </dev/null >/dev/null 2>&1
    # One by one, so that a package which cannot be had does not cost the others.
    for package in $packages; do
        apt-get install -y -qq --no-install-recommends "$package" </dev/null >/dev/null 2>&1
    done
}

[ -n "$(missing)" ] || exit 0
if is_debian_root; then
    install_missing
fi
missing | while IFS='|' read -r name skipped packages; do
    echo "missing: $name (Debian: $packages); skipped without it: $skipped"
done
exit 0
