#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/flat_map.h"
#include "target/memory.h"

namespace nodescope {

// The memory of a live process.  Pages that were read are kept until forget(): within one walk of a stack
// every page is copied once.  What one round needs the next one mostly needs too, so that is copied together:
// a copy of many pages costs little more than that of one.  When the process has ended, the pages of the last
// two rounds are what is left of it.
class LiveMemory final : public Memory {
 public:
  explicit LiveMemory(pid_t pid) : pid_(pid) {}

  bool read(Address address, std::span<std::byte> into) override;

  // Copies the pages of all `ranges` that are not here yet, together.
  void prefetch(std::span<const Range<Address>> ranges) override;
  void forget() override;
  bool is_gone() const override { return is_gone_; }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  using Page = std::array<std::byte, kPageBytes>;

  struct Copy {
    std::unique_ptr<Page> page;  // null: cannot be read
    bool used = false;
  };

  const Page* page(std::uint64_t number);
  void fetch_with_expected(std::uint64_t number);
  void fetch(std::span<const std::uint64_t> numbers);
  std::unique_ptr<Page> new_page();
  std::unique_ptr<Page> page_before(std::uint64_t number);

  pid_t pid_;
  bool is_gone_ = false;
  FlatMap<std::uint64_t, Copy> pages_;
  FlatMap<std::uint64_t, Copy> before_;       // of the round before
  std::vector<std::uint64_t> expected_;       // used before forget(), not copied since
  std::vector<std::unique_ptr<Page>> spare_;  // to be written to again
  std::uint64_t last_number_ = ~std::uint64_t{0};
  const Page* last_page_ = nullptr;
};

}  // namespace nodescope
