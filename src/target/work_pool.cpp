#include "target/work_pool.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "binary/demangle.h"
#include "os/process_memory.h"

namespace nodescope {

namespace {

struct NamedPlace {
  std::string_view name;
  FileAddress PoolSymbols::* member;
};

// Static variables and functions, the same from libuv 1.39 to 1.52.
constexpr auto kPlaces = std::to_array<NamedPlace>({
    {"nthreads", &PoolSymbols::thread_count},
    {"idle_threads", &PoolSymbols::idle_count},
    {"wq", &PoolSymbols::queue},
    {"slow_io_pending_wq", &PoolSymbols::slow_queue},
    {"uv__fs_work", &PoolSymbols::file_work},
    {"uv__getaddrinfo_work", &PoolSymbols::lookup_work},
    {"uv__getnameinfo_work", &PoolSymbols::name_work},
    {"uv__queue_work", &PoolSymbols::other_work},
    {"uv__work_submit", &PoolSymbols::submit},
});
constexpr std::size_t kVariables = 4;
// The variables of one file of libuv lie together; others of the same names do not.
constexpr std::uint64_t kMaxDistance = 512;

// struct uv__work: work, done, loop, and its place in the queue.
constexpr std::uint64_t kQueuePlace = 24;
// A node::ThreadPoolWork has its uv_work_t behind its table of functions and its environment, and that its
// uv__work at the end.
constexpr std::uint64_t kOwnerDistance = 16 + 88;

struct NamedWork {
  std::string_view part;  // of the name of a class
  std::string_view name;
};

constexpr auto kWork = std::to_array<NamedWork>({
    {"PBKDF2", "crypto.pbkdf2"},
    {"Scrypt", "crypto.scrypt"},
    {"HKDF", "crypto.hkdf"},
    {"RandomBytes", "crypto.randomBytes"},
    {"RandomPrime", "crypto.generatePrime"},
    {"CheckPrime", "crypto.checkPrime"},
    {"KeyGen", "crypto.generateKey"},
    {"Sign", "crypto.sign"},
    {"Hash", "crypto.hash"},
    {"Cipher", "crypto.cipher"},
    {"Zlib", "zlib"},
    {"Brotli", "zlib (brotli)"},
    {"Zstd", "zlib (zstd)"},
    {"uvimpl::Work", "an addon"},
});

template <typename T>
bool read_value(pid_t pid, Address address, T& value) {
  return read_process_memory(
      pid, std::array{RemoteBytes{address.value, std::as_writable_bytes(std::span(&value, 1))}})[0];
}

std::uint64_t distance(FileAddress a, FileAddress b) {
  return a > b ? a.value - b.value : b.value - a.value;
}

}  // namespace

std::optional<PoolSymbols> find_pool_symbols(const ElfFile& file) {
  constexpr std::string_view kClass = "_ZTVN4node";
  constexpr std::string_view kAddonClass = "_ZTVN12_GLOBAL__N_16uvimpl4WorkE";
  PoolSymbols found;
  std::array<std::size_t, kPlaces.size()> times{};
  const ElfSymbols symbols = file.symtab();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const ElfSymbol symbol = symbols[i];
    if (symbol.section == 0 || symbol.size_bytes == 0) continue;
    const std::string_view name = symbols.name(symbol);
    if (name.starts_with(kClass) || name == kAddonClass)
      found.classes.push_back({FileAddress{symbol.value}, symbol.size_bytes, std::string(name)});
    const auto place = std::ranges::find(kPlaces, name, &NamedPlace::name);
    if (place == kPlaces.end()) continue;
    ++times[static_cast<std::size_t>(place - kPlaces.begin())];
    found.*place->member = FileAddress{symbol.value};
  }
  if (!std::ranges::all_of(times, [](std::size_t count) { return count == 1; })) return std::nullopt;
  for (const NamedPlace& variable : std::span(kPlaces).first(kVariables)) {
    if (distance(found.*variable.member, found.idle_count) > kMaxDistance) return std::nullopt;
  }
  std::ranges::sort(found.classes, {}, &PoolSymbols::Class::table);
  return found;
}

std::string name_of_work(std::string_view class_name) {
  const auto known =
      std::ranges::find_if(kWork, [&](const NamedWork& work) { return class_name.contains(work.part); });
  if (known != kWork.end()) return std::string(known->name);
  constexpr std::string_view kTable = "vtable for ";
  std::string name = demangle(class_name);
  if (name.starts_with(kTable)) name.erase(0, kTable.size());
  return name.empty() ? "native code" : name;
}

std::optional<PoolImage> find_pool_image(const LiveProcess& process) {
  for (const Region& region : process.map().regions()) {
    if (!region.executable || !region.has_file()) continue;
    auto elf = process.open_image(region);
    auto symbols = elf ? find_pool_symbols(elf->file()) : std::optional<PoolSymbols>();
    const auto code = symbols ? elf->file().to_address(region.offset) : std::optional<FileAddress>();
    if (code)
      return PoolImage{std::move(*elf), std::move(*symbols), region.range.begin.value - code->value, region};
  }
  return std::nullopt;
}

std::optional<WorkPool> WorkPool::find(const LiveProcess& process) {
  auto image = find_pool_image(process);
  if (!image) return std::nullopt;
  return WorkPool(process.pid(), std::move(image->symbols), image->bias);
}

std::optional<PoolState> WorkPool::read() {
  PoolState state;
  std::uint64_t first = 0;  // in the queue; the queue itself: it is empty
  std::array<RemoteBytes, 3> pieces = {
      RemoteBytes{address(symbols_.thread_count).value, std::as_writable_bytes(std::span(&state.threads, 1))},
      RemoteBytes{address(symbols_.idle_count).value, std::as_writable_bytes(std::span(&state.idle, 1))},
      RemoteBytes{address(symbols_.queue).value, std::as_writable_bytes(std::span(&first, 1))},
  };
  const auto read = read_process_memory(pid_, pieces);
  if (std::ranges::find(read, false) != read.end()) return std::nullopt;
  if (state.threads > kMaxThreads || state.idle > state.threads) return std::nullopt;
  state.has_queue = first != 0 && first != address(symbols_.queue).value;
  return state;
}

void WorkPool::walk(PoolState& state) {
  walk(address(symbols_.queue), state);
  walk(address(symbols_.slow_queue), state);
}

// The process goes on meanwhile, so the list may lead anywhere: its length is bounded, and a request counts
// only if its function is one of libuv's.
void WorkPool::walk(Address queue, PoolState& state) {
  std::uint64_t next = 0;
  if (!read_value(pid_, queue, next)) return;
  for (std::size_t steps = 0; next != queue.value && next > kQueuePlace; ++steps) {
    if (steps == kMaxQueued || state.queued == kMaxQueued) {
      state.has_more = true;
      return;
    }
    std::array<std::uint64_t, 4> work{};  // work, done, loop, next
    const Address begin{next - kQueuePlace};
    if (!read_value(pid_, begin, work)) return;
    next = work[3];
    const std::string kind = kind_of(begin, Address{work[0]});
    if (kind.empty()) continue;  // libuv's own sign that slow work waits
    ++state.queued;
    ++state.work[kind];
  }
}

std::string WorkPool::kind_of(Address work, Address function) {
  if (function == address(symbols_.file_work)) return "file system";
  if (function == address(symbols_.lookup_work)) return "dns.lookup";
  if (function == address(symbols_.name_work)) return "dns.lookupService";
  if (function != address(symbols_.other_work)) return {};
  std::uint64_t table = 0;
  read_value(pid_, Address{work.value - kOwnerDistance}, table);
  return class_at(table);
}

std::string WorkPool::class_at(std::uint64_t table) const {
  const FileAddress place{table - bias_};
  const auto after = std::ranges::upper_bound(symbols_.classes, place, {}, &PoolSymbols::Class::table);
  if (after == symbols_.classes.begin()) return "native code";
  const PoolSymbols::Class& found = *std::prev(after);
  return place.value - found.table.value < found.size_bytes ? name_of_work(found.name) : "native code";
}

}  // namespace nodescope
