#!/usr/bin/env bash
# Brings the modules of the programs in Go, where Go is installed. Without Go their tests are skipped
# and say so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PATH:/usr/local/go/bin" GOTOOLCHAIN=local GOFLAGS=-mod=readonly

if command -v go >/dev/null; then
    for folder in examples/consumers/go tests/support/clients/canal/go; do
        (cd "$folder" && go mod download) || echo "The modules of $folder cannot be fetched: its test will fail." >&2
    done
fi
