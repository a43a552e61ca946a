#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "target/process.h"

namespace nodescope::testing {

// A process that nobody has started: files mapped whole, memory and one thread with its registers.
class FakeProcess final : public TargetProcess {
 public:
  explicit FakeProcess(std::string executable) : executable_(std::move(executable)) {}

  void map_file(Address at, const std::string& path, std::string content) {
    regions_.push_back({.range = {at, at + content.size()},
                        .readable = true,
                        .executable = true,
                        .offset = {},
                        .device = "08:01",
                        .inode = regions_.size() + 1,
                        .path = path});
    files_.insert_or_assign(path, std::move(content));
    place_regions();
  }
  void map_memory(Address at, std::string content) {
    regions_.push_back({.range = {at, at + content.size()},
                        .readable = true,
                        .writable = true,
                        .offset = {},
                        .device = {},
                        .path = {}});
    memory_.pieces.emplace_back(at, std::move(content));
    place_regions();
  }
  void set_thread(const RegisterSet& registers) { thread_ = {.tid = pid(), .registers = registers}; }

  pid_t pid() const override { return 4711; }
  const std::string& executable() const override { return executable_; }
  const std::optional<std::string>& container_id() const override { return container_id_; }
  const MemoryMap& map() const override { return map_; }
  Result<void> refresh_map() override { return {}; }
  Memory& memory() override { return memory_; }
  Result<std::unique_ptr<Standstill>> stop() override { return std::make_unique<Still>(thread_); }
  std::string thread_name(pid_t) const override { return "fake"; }

  Result<OwnedElf> open_image(const Region& region) const override {
    return OwnedElf::read(std::make_unique<MemorySource>(files_.at(region.path), region.path));
  }
  bool has_mapped(const Region&, const ElfFile&) const override { return true; }
  Result<std::unique_ptr<ByteSource>> open_own_file(const std::string& path) const override {
    return fail(ErrorCode::kNotFound, path + ": no such file");
  }
  Result<std::unique_ptr<ByteSource>> open_perf_map() const override { return open_own_file("perf map"); }

 private:
  struct Pieces final : public Memory {
    std::vector<std::pair<Address, std::string>> pieces;

    bool read(Address address, std::span<std::byte> into) override {
      for (const auto& [begin, content] : pieces) {
        if (address < begin || address.value - begin.value + into.size() > content.size()) continue;
        std::ranges::copy(std::as_bytes(std::span(content)).subspan(address - begin, into.size()),
                          into.begin());
        return true;
      }
      return false;
    }
  };
  class Still final : public Standstill {
   public:
    explicit Still(const TargetThread& thread) : thread_(thread) {}
    std::span<const TargetThread> threads() const override { return {&thread_, 1}; }
    std::uint64_t resume_ns() override { return 0; }

   private:
    TargetThread thread_;
  };

  void place_regions() {
    std::ranges::sort(regions_, {}, [](const Region& region) { return region.range.begin; });
    map_ = MemoryMap(regions_);
  }

  std::string executable_;
  std::optional<std::string> container_id_;
  std::vector<Region> regions_;
  MemoryMap map_;
  std::map<std::string, std::string> files_;
  Pieces memory_;
  TargetThread thread_;
};

}  // namespace nodescope::testing
