#!/usr/bin/env bash
# clang-tidy over every source file of the product.  A file that passed is not checked again until it, a header or the
# configuration changes.
set -eu -o pipefail
source_dir=$1
build_dir=$2
cd "$source_dir"
passed=$build_dir/tidy-passed
mkdir -p "$passed"
common=$(find src .clang-tidy \( -name '*.h' -o -name .clang-tidy \) -print0 | sort -z | xargs -0 cat | sha256sum | cut -c1-32)

check() {
  local stamp
  stamp=$passed/$({ echo "$common"; cat "$1"; } | sha256sum | cut -c1-40)
  [ -e "$stamp" ] && return 0
  clang-tidy-19 --quiet -p "$build_dir" "$1" 2>/dev/null && touch "$stamp"
}
export -f check
export passed common build_dir
find src -name '*.cpp' -print0 | xargs -0 -P "$(nproc)" -I{} bash -c 'check {}'
