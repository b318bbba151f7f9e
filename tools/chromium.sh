#!/bin/sh
# Prints the path of Chromium for `make test-browser`: that in CHROMIUM, or one that is installed; where there is none and
# the package manager of Debian may be used, it installs one.
set -eu

found() {
    for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
        if [ -n "$name" ] && command -v "$name"; then return 0; fi
    done
    return 1
}

if [ -n "${CHROMIUM:-}" ] && ! command -v "$CHROMIUM" > /dev/null; then
    echo "katapi: CHROMIUM is $CHROMIUM, which is no program" >&2
    exit 1
fi
found && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "katapi: installing Chromium with apt-get" >&2
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends chromium; } > /dev/null 2>&1 || true
    found && exit 0
fi
echo "katapi: make test-browser needs Chromium: install it, or name it in CHROMIUM=/path/to/chromium" >&2
exit 1
