#!/usr/bin/env bash
# Every C++ file is as clang-format leaves it.
set -eu
cd "$1"
git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.h' | xargs -0 clang-format-19 --dry-run -Werror
