#!/usr/bin/env bash
# Every C++ file is as clang-format leaves it.
set -eu -o pipefail
cd "$1"
find bench fuzz src tests wasm \( -name node_modules -prune \) -o \( -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 clang-format-19 --dry-run -Werror
