#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Truth test of 300 machines whose trace blocks have any properties that the specifications allow.
set -euo pipefail
cd "$(dirname "$0")/../.."
VARIANTS=${VARIANTS:-300} exec selftests/tools/truth_variants.sh
