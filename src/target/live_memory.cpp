#include "target/live_memory.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "os/process_memory.h"

namespace nodescope {

namespace {

// Larger reads (a script's source) go past the pages: they would not be read twice.
constexpr std::size_t kDirectBytes = 64 * 1024;

// A walk touches some hundred pages; a hostile heap may not make us keep more than 256 MiB of it.
constexpr std::size_t kMaxPages = 65536;

// Of one round; a hostile heap may make a round touch any number.
constexpr std::size_t kMaxExpectedPages = 512;

constexpr std::uint64_t kUserSpaceEnd = std::uint64_t{1} << 47;

}  // namespace

bool LiveMemory::read(Address address, std::span<std::byte> into) {
  if (address.value >= kUserSpaceEnd || into.size() > kUserSpaceEnd - address.value) return false;
  if (into.size() >= kDirectBytes)
    return read_process_memory(pid_, std::array{RemoteBytes{address.value, into}})[0];
  std::uint64_t position = address.value;
  while (!into.empty()) {
    const Page* source = page(position / kPageBytes);
    if (source == nullptr) return false;
    const std::size_t offset = position % kPageBytes;
    const std::size_t count = std::min<std::size_t>(into.size(), kPageBytes - offset);
    std::ranges::copy(std::span(*source).subspan(offset, count), into.begin());
    into = into.subspan(count);
    position += count;
  }
  return true;
}

void LiveMemory::prefetch(std::span<const Range<Address>> ranges) {
  std::vector<std::uint64_t> missing;
  for (const Range<Address>& range : ranges) {
    const std::uint64_t end = std::min(range.end.value, kUserSpaceEnd);
    for (std::uint64_t number = range.begin.value / kPageBytes; number * kPageBytes < end; ++number) {
      if (missing.size() + pages_.size() >= kMaxPages) break;
      if (!pages_.contains(number)) missing.push_back(number);
    }
  }
  fetch(missing);
}

void LiveMemory::forget() {
  if (is_gone_ || pages_.empty()) return;
  for (auto& [number, copy] : before_) {
    if (copy.page != nullptr && spare_.size() < kMaxExpectedPages) spare_.push_back(std::move(copy.page));
  }
  expected_.clear();
  for (const auto& [number, copy] : pages_) {
    if (copy.used && copy.page != nullptr && expected_.size() < kMaxExpectedPages)
      expected_.push_back(number);
  }
  std::ranges::sort(expected_);
  before_ = std::exchange(pages_, {});
  last_number_ = ~std::uint64_t{0};
  last_page_ = nullptr;
}

const LiveMemory::Page* LiveMemory::page(std::uint64_t number) {
  if (number == last_number_) return last_page_;
  auto found = pages_.find(number);
  if (found == pages_.end()) {
    if (pages_.size() >= kMaxPages) {
      if (is_gone_) return nullptr;
      forget();
    }
    fetch_with_expected(number);
    found = pages_.find(number);
  }
  found->second.used = true;
  last_number_ = number;
  last_page_ = found->second.page.get();
  return last_page_;
}

void LiveMemory::fetch_with_expected(std::uint64_t number) {
  std::erase_if(expected_, [&](std::uint64_t other) { return other == number || pages_.contains(other); });
  expected_.push_back(number);
  fetch(expected_);
  expected_.clear();
}

std::unique_ptr<LiveMemory::Page> LiveMemory::new_page() {
  if (spare_.empty()) return std::make_unique_for_overwrite<Page>();
  std::unique_ptr<Page> page = std::move(spare_.back());
  spare_.pop_back();
  return page;
}

void LiveMemory::fetch(std::span<const std::uint64_t> numbers) {
  std::vector<std::unique_ptr<Page>> fresh;
  std::vector<RemoteBytes> pieces;
  for (const std::uint64_t number : numbers) {
    fresh.push_back(new_page());
    pieces.push_back({number * kPageBytes, *fresh.back()});
  }
  const std::vector<bool> done = read_process_memory(pid_, pieces);
  if (!is_gone_ && std::ranges::none_of(done, std::identity())) is_gone_ = has_lost_its_memory(pid_);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    pages_.insert_or_assign(numbers[i], Copy{done[i] ? std::move(fresh[i]) : page_before(numbers[i])});
}

std::unique_ptr<LiveMemory::Page> LiveMemory::page_before(std::uint64_t number) {
  const auto before = is_gone_ ? before_.find(number) : before_.end();
  return before == before_.end() ? nullptr : std::move(before->second.page);
}

}  // namespace nodescope
