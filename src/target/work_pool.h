#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/address.h"
#include "binary/elf_file.h"
#include "target/live_process.h"

namespace nodescope {

// Where a binary has libuv's pool of threads (src/threadpool.c), which a process has once, by its symbols.
struct PoolSymbols {
  FileAddress thread_count;
  FileAddress idle_count;
  FileAddress queue;
  FileAddress slow_queue;  // of what may take long, such as dns.lookup, and gets half of the threads at most

  // What a thread of the pool calls to do a request of each kind.
  FileAddress file_work;
  FileAddress lookup_work;
  FileAddress name_work;
  FileAddress other_work;
  FileAddress submit;  // uv__work_submit

  struct Class {
    FileAddress table;  // of virtual functions
    std::uint64_t size_bytes = 0;
    std::string name;  // "node::crypto::DeriveBitsJob<node::crypto::PBKDF2Traits>"
  };
  std::vector<Class> classes;  // by address
};
// Nothing where the binary has no such symbols, or several of one name.
std::optional<PoolSymbols> find_pool_symbols(const ElfFile& file);

// "crypto.pbkdf2": what a user calls the work of a class of Node.js; else the class itself.
std::string name_of_work(std::string_view class_name);

// The binary of a process that holds its pool.
struct PoolImage {
  OwnedElf elf;
  PoolSymbols symbols;
  std::uint64_t bias = 0;  // where it lies in memory
  Region region;           // one of those that it is mapped at
};
std::optional<PoolImage> find_pool_image(const LiveProcess& process);

struct PoolState {
  std::uint32_t threads = 0;
  std::uint32_t idle = 0;
  bool has_queue = false;
  // Only where the queue was walked.
  std::size_t queued = 0;
  bool has_more = false;  // than kMaxQueued

  // "crypto.pbkdf2", and how many of these are queued.
  std::map<std::string, std::size_t> work = {};

  // Whoever comes now has to wait.
  bool is_full() const { return threads != 0 && idle == 0 && has_queue; }
};

// The pool of a running process, read without a stop.
class WorkPool {
 public:
  static constexpr std::size_t kMaxQueued = 512;
  static constexpr std::uint32_t kMaxThreads = 1024;  // libuv's own limit

  // Nothing where the process has no pool that is understood.
  static std::optional<WorkPool> find(const LiveProcess& process);

  // Nothing when it cannot be read, or makes no sense.
  std::optional<PoolState> read();
  // Counts what is queued, which takes a millisecond for the longest queue.
  void walk(PoolState& state);

 private:
  WorkPool(pid_t pid, PoolSymbols symbols, std::uint64_t bias)
      : pid_(pid), symbols_(std::move(symbols)), bias_(bias) {}

  Address address(FileAddress place) const { return Address{place.value + bias_}; }
  void walk(Address queue, PoolState& state);
  std::string kind_of(Address work, Address function);
  std::string class_at(std::uint64_t table) const;

  pid_t pid_;
  PoolSymbols symbols_;
  std::uint64_t bias_;  // where the binary lies
};

}  // namespace nodescope
