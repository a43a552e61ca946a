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
// every page is copied once.
class LiveMemory final : public Memory {
 public:
  explicit LiveMemory(pid_t pid) : pid_(pid) {}

  bool read(Address address, std::span<std::byte> into) override;

  // Copies the pages of all `ranges` that are not here yet, together.
  void prefetch(std::span<const Range<Address>> ranges);

  // What is read from now on is what is there from now on.
  void forget();

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  using Page = std::array<std::byte, kPageBytes>;

  const Page* page(std::uint64_t number);
  void fetch(std::span<const std::uint64_t> numbers);

  pid_t pid_;
  FlatMap<std::uint64_t, std::unique_ptr<Page>> pages_;  // null: cannot be read
  std::uint64_t last_number_ = ~std::uint64_t{0};
  const Page* last_page_ = nullptr;
};

}  // namespace nodescope
