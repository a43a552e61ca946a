# Sourced by ./nodescope and ./test: installs what is missing on Debian, builds a preset, says what it does.
# Everything goes to standard error, so that standard output belongs to the program.

build_packages="g++ ccache cmake ninja-build libboost1.81-dev libboost-json1.81-dev libfmt-dev libcli11-dev
  libprotozero-dev libzstd-dev zlib1g-dev liblz4-dev llvm-19-dev
  clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32"
test_packages="clang-tidy-19 clang-format-19 libclang-rt-19-dev libgtest-dev libgmock-dev
  libbenchmark-dev linux-perf python3 mandoc binutils chromium runc zstd xvfb xdg-utils"

say() { printf '%s\n' "$*" >&2; }

die() {
  say "nodescope: $*"
  exit 1
}

is_debian_12() {
  [ -r /etc/os-release ] && (. /etc/os-release && [ "$ID" = debian ] && [ "${VERSION_ID%%.*}" -ge 12 ])
}

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "not root and no sudo here; as root, run: $*"
  fi
}

install_packages() {
  local missing
  missing=$(missing_packages "$@" | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  say "nodescope: installing Debian packages: $missing"
  silently apt_install $missing || die "apt-get could not install: $missing"
}

apt_install() {
  as_root apt-get update -q &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

# Runs a command; what it says is shown only if it fails.
silently() {
  local log result
  log=$(mktemp)
  ("$@") >"$log" 2>&1
  result=$?
  [ "$result" = 0 ] || tail -n 20 "$log" >&2
  rm -f "$log"
  return "$result"
}

# Node.js for the page, the demo and the browser tests: any that is on the PATH, else Debian's.
require_node() {
  command -v node >/dev/null && command -v npm >/dev/null && return 0
  is_debian_12 || die "node and npm are not on the PATH"
  install_packages nodejs npm
}

# What a package.json asks for, as its package-lock.json says; again when that changes.
require_npm_packages() {
  local folder=$1
  [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ] && return 0
  say "nodescope: installing npm packages for $folder"
  silently npm ci --prefix "$folder" --no-audit --no-fund || die "npm could not install the packages of $folder"
  touch "$folder/node_modules/.package-lock.json"
}

# On another distribution: every tool and header that the build needs, by what it is called upstream.
require_elsewhere() {
  local missing=() item
  for item in cmake ninja c++; do
    command -v "$item" >/dev/null || missing+=("$item (command)")
  done
  local headers=(boost/json.hpp:"Boost 1.81 with Boost.JSON" fmt/format.h:fmt CLI/CLI.hpp:CLI11
    protozero/pbf_reader.hpp:protozero zstd.h:zstd zlib.h:zlib lz4frame.h:lz4)
  for item in "${headers[@]}"; do
    printf '#include <%s>\n' "${item%%:*}" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1 || missing+=("${item#*:}")
  done
  [ -e /usr/lib/llvm-19/lib/libLLVMDemangle.a ] || missing+=("LLVM 19's libLLVMDemangle.a in /usr/lib/llvm-19/lib")
  [ ${#missing[@]} = 0 ] && return 0
  say "nodescope installs its build dependencies by itself on Debian 12 and newer only."
  say "Missing here, with static libraries (.a):"
  printf '  - %s\n' "${missing[@]}" >&2
  exit 1
}

require_packages() {
  if is_debian_12; then install_packages "$@"; else require_elsewhere; fi
}

# build PRESET TARGETS…: quiet but for one moving line on a terminal; everything is shown when it fails.
build() {
  local preset=$1 log
  shift
  [ -e "build/$preset/build.ninja" ] || say "nodescope: building ($preset; a few minutes, once)"
  log=$(mktemp)
  if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "cmake could not configure the $preset build"
  fi
  if ! run_ninja "$preset" "$log" "$@"; then
    grep -v '^nodescope: building' "$log" | tail -n 60 >&2
    rm -f "$log"
    die "the $preset build failed"
  fi
  rm -f "$log"
}

run_ninja() (
  preset=$1 log=$2
  shift 2
  set -o pipefail
  if [ -t 2 ]; then
    NINJA_STATUS="nodescope: building ($preset) %f/%t " ninja -C "build/$preset" "$@" 2>&1 | tee "$log" | progress_line
  else
    ninja -C "build/$preset" "$@" >"$log" 2>&1
  fi
)

# Shows the newest line of its input in place of the one before.
progress_line() {
  local line width
  width=$(tput cols 2>/dev/null || echo 80)
  while IFS= read -r line; do
    case $line in "nodescope: building"*) printf '\r\033[K%s' "${line:0:width-1}" >&2 ;; esac
  done
  printf '\r\033[K' >&2
}
