#!/usr/bin/env bash
# Brings Chromium for the tests of the admin's pages: as root on Debian or Ubuntu its package,
# otherwise it is named. Without it those tests are skipped and say so.
set -euo pipefail
export PATH="$PATH:/usr/local/bin:/usr/sbin:/sbin"

if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then
    exit
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing the system package chromium" >&2
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null || true
fi
command -v chromium >/dev/null || echo "No Chromium: the browser tests of the admin's pages will be skipped. Install the package chromium." >&2
