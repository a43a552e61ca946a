#!/usr/bin/env bash
# base, model, analysis and the reader of recordings know no operating system: they compile for WebAssembly, without exceptions,
# and with no 64-bit number cut to 32 bits by accident.
set -eu
cd "$1"
if ! echo '#include <expected>' | clang++-19 --target=wasm32-wasi -std=c++23 -fsyntax-only -x c++ - 2>/dev/null; then
  echo "SKIPPED: Debian's wasi-libc, libc++-19-dev-wasm32 and libclang-rt-19-dev-wasm32 are not here"
  exit 77
fi
# Only these two libraries from /usr/include: the rest of it is the host's.
libraries=$(mktemp -d)
trap 'rm -rf "$libraries"' EXIT
ln -s /usr/include/boost /usr/include/fmt "$libraries"

check() {
  clang++-19 --target=wasm32-wasi -std=c++23 -fno-exceptions -fsyntax-only -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion \
    -Werror -Isrc -isystem "$libraries" "$1"
}
export -f check
export libraries
recording=src/formats/recording
printf '%s\n' src/base/*.cpp src/model/*.cpp src/analysis/*.cpp \
  $recording/{chunk_decoder,layout,recording_reader,sample_block}.cpp | xargs -P "$(nproc)" -I{} bash -c 'check {}'
