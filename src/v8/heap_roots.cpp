#include "v8/heap_roots.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/flat_map.h"

namespace nodescope::v8 {

namespace {

// The heap is a part of its isolate: this far behind its beginning at most, and this much may follow that is
// of interest (V8 9.4 to 14.6: 0xA300 to 0xF3C0, and some 0x4000).
constexpr std::uint64_t kMaxBeforeHeap = 0x18000;
constexpr std::uint64_t kMaxAfterHeap = 0x8000;

constexpr std::uint64_t kMaxStackBytes = 16 << 20;
constexpr std::uint64_t kRedZoneBytes = 128;
constexpr std::size_t kMaxIsolates = 1024;
constexpr std::size_t kMaxBlocks = 1 << 16;  // of handles; each has at least 256
constexpr std::size_t kMaxRoots = 1 << 26;

// Words of memory, as many of them as can be read.
class Words {
 public:
  Words(Memory& memory, Range<Address> range) : begin_(range.begin.value & ~std::uint64_t{7}) {
    constexpr std::uint64_t kChunk = 4096;
    memory.prefetch(std::array{range});
    words_.resize(range.size_bytes() / 8);
    for (std::uint64_t at = 0; at < words_.size(); at += kChunk / 8) {
      const auto chunk =
          std::span(words_).subspan(at, std::min<std::uint64_t>(kChunk / 8, words_.size() - at));
      if (!memory.read(Address{begin_ + at * 8}, std::as_writable_bytes(chunk))) std::ranges::fill(chunk, 0);
    }
  }

  std::span<const std::uint64_t> words() const { return words_; }
  std::uint64_t address(std::size_t index) const { return begin_ + index * 8; }

 private:
  std::uint64_t begin_;
  std::vector<std::uint64_t> words_;
};

class PageTable {
 public:
  explicit PageTable(std::span<const HeapPage> pages) : pages_(pages) {}

  const HeapPage* find(std::uint64_t address) const {
    const auto next = std::ranges::upper_bound(pages_, Address{address}, {},
                                               [](const HeapPage& page) { return page.range.begin; });
    if (next == pages_.begin()) return nullptr;
    const HeapPage& page = *std::prev(next);
    return page.objects.contains(Address{address}) ? &page : nullptr;
  }

 private:
  std::span<const HeapPage> pages_;
};

class RootFinder {
 public:
  RootFinder(Memory& memory, const PageTable& pages, Isolate& isolate)
      : memory_(memory),
        pages_(pages),
        isolate_(isolate),
        words_(memory,
               {isolate.heap - std::min(kMaxBeforeHeap, isolate.heap.value), isolate.heap + kMaxAfterHeap}) {}

  // Many members of an isolate point to objects whose first word points back to it.
  void find_isolate() {
    FlatMap<std::uint64_t, int> votes;
    for (const std::uint64_t word : words_.words()) {
      const auto first = pointee(word);
      if (first && *first % 8 == 0 && *first < isolate_.heap.value &&
          isolate_.heap.value - *first <= kMaxBeforeHeap)
        ++votes[*first];
    }
    constexpr int kEnough = 3;
    int most = kEnough - 1;
    for (const auto& [address, count] : votes) {
      if (count < most || (count == most && address > isolate_.isolate.value)) continue;
      most = count;
      isolate_.isolate = Address{address};
    }
  }

  void find_roots() {
    if (isolate_.isolate.value == 0) return;
    bool has_handles = false;
    FlatSet<std::uint64_t> seen;
    for (std::size_t i = 0; i < words_.words().size(); ++i) {
      const std::uint64_t word = words_.words()[i];
      const std::uint64_t at = words_.address(i);
      if (at < isolate_.isolate.value) continue;
      if (at < isolate_.heap.value) add(RootKind::kStrongRoots, word);
      if (word % 8 != 0 || !seen.insert(word).second) continue;
      const auto first = pointee(word);
      if (!first) continue;
      if (*first == isolate_.isolate.value) {
        if (read_global_handles(word)) continue;
        if (!has_handles) {
          has_handles = read_handle_scopes(word);
          if (has_handles) continue;
        }
        read_cache(word);
        continue;
      }
      if (read_eternal_handles(word)) continue;
      read_microtasks(word);
    }
  }

  void read_stack(const HeapThread& thread, Address end) {
    for (const std::uint64_t word : thread.registers) add(RootKind::kStack, word);
    const Address begin = thread.stack_pointer - kRedZoneBytes;
    if (end <= begin) return;
    const Words stack(memory_, {begin, std::min(end, begin + kMaxStackBytes)});
    for (const std::uint64_t word : stack.words()) add(RootKind::kStack, word);
  }

 private:
  std::optional<std::uint64_t> load(std::uint64_t address) {
    return memory_.load<std::uint64_t>(Address{address});
  }

  // What a pointer to memory outside of the heap points to.
  std::optional<std::uint64_t> pointee(std::uint64_t word) {
    constexpr std::uint64_t kUserSpaceEnd = std::uint64_t{1} << 47;
    if (word < 0x10000 || word >= kUserSpaceEnd || word % 8 != 0 || pages_.find(word) != nullptr)
      return std::nullopt;
    return load(word);
  }

  bool is_own(std::uint64_t word) const {
    if ((word & 3) != 1) return false;
    const HeapPage* page = pages_.find(word - 1);
    return page != nullptr && (page->heap == isolate_.heap || page->kind == SpaceKind::kReadOnly);
  }

  void add(RootKind kind, std::uint64_t word) {
    if (!is_own(word) || isolate_.roots.size() >= kMaxRoots) return;
    const bool is_evacuated = pages_.find(word - 1)->kind == SpaceKind::kEvacuated;
    if (is_evacuated && (kind == RootKind::kGlobalHandles || kind == RootKind::kHandleScopes))
      isolate_.is_collecting = true;
    if (!is_evacuated) isolate_.roots.push_back({kind, word});
  }

  // GlobalHandles: the isolate, then its nodes in blocks (src/handles/global-handles.cc).  A node is 32
  // bytes, with the object, its own index and its flags; a block of 256 is followed by the next one, the
  // GlobalHandles and the NodeSpace.
  bool read_global_handles(std::uint64_t handles) {
    for (const std::uint64_t offset : {8U, 16U, 24U}) {
      const auto space = load(handles + offset);
      if (!space || pointee(*space) != handles) continue;
      const auto first = load(*space + 8);
      if (!first || !is_node_block(*first, handles, *space)) continue;
      read_node_blocks(*first, handles, *space);
      return true;
    }
    return false;
  }

  static constexpr std::uint64_t kNodeBytes = 32;
  static constexpr std::uint64_t kNodes = 256;
  static constexpr std::uint64_t kBlockBytes = kNodes * kNodeBytes;

  bool is_node_block(std::uint64_t block, std::uint64_t handles, std::uint64_t space) {
    if (block == 0 || block % 8 != 0) return false;
    const auto owner = load(block + kBlockBytes + 8);
    const auto owner_space = load(block + kBlockBytes + 16);
    return owner == handles && owner_space == space;
  }

  void read_node_blocks(std::uint64_t block, std::uint64_t handles, std::uint64_t space) {
    constexpr std::uint64_t kStateMask = 3;
    constexpr std::uint64_t kStrong = 1;
    constexpr unsigned kFlagsShift = 24;  // the fourth byte of the second word
    for (std::size_t count = 0; count < kMaxBlocks && is_node_block(block, handles, space); ++count) {
      const Words nodes(memory_, {Address{block}, Address{block + kBlockBytes + 8}});
      const auto words = nodes.words();
      for (std::size_t node = 0; node < kNodes; ++node) {
        const std::uint64_t flags = words[node * 4 + 1] >> kFlagsShift;
        if ((flags & kStateMask) == kStrong) add(RootKind::kGlobalHandles, words[node * 4]);
      }
      block = words[kBlockBytes / 8];
    }
  }

  // HandleScopeImplementer: the isolate, then vectors {data, capacity, size}: blocks of handles, and
  // contexts.
  bool read_handle_scopes(std::uint64_t implementer) {
    constexpr std::uint64_t kHandlesPerBlock = 1022;
    constexpr std::uint64_t kMaxCapacity = 1 << 20;
    const auto data = load(implementer + 8);
    const auto capacity = load(implementer + 16);
    const auto size = load(implementer + 24);
    if (!data || !capacity || !size || *size == 0 || *size > *capacity || *capacity > kMaxCapacity)
      return false;
    const Words blocks(memory_, {Address{*data}, Address{*data + *size * 8}});
    const std::uint64_t last = blocks.words().back();
    const std::uint64_t limit = last + kHandlesPerBlock * 8;
    const auto next = next_handle(last, limit);
    if (!next) return false;
    for (std::size_t i = 0; i + 1 < blocks.words().size() && i < kMaxBlocks; ++i) {
      const std::uint64_t block = blocks.words()[i];
      add_all(RootKind::kHandleScopes, block, block + kHandlesPerBlock * 8);
    }
    add_all(RootKind::kHandleScopes, last, *next);
    for (const std::uint64_t vector : {32U, 56U}) {
      const auto contexts = load(implementer + vector);
      const auto count = load(implementer + vector + 16);
      if (contexts && count && *count < kMaxCapacity && pointee(*contexts))
        add_all(RootKind::kHandleScopes, *contexts, *contexts + *count * 8);
    }
    return true;
  }

  // Where the next handle will be: HandleScopeData {next, limit} is a part of the isolate.
  std::optional<std::uint64_t> next_handle(std::uint64_t begin, std::uint64_t limit) const {
    const auto words = words_.words();
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i + 1] == limit && words[i] >= begin && words[i] <= limit && words[i] % 8 == 0)
        return words[i];
    }
    return std::nullopt;
  }

  void add_all(RootKind kind, std::uint64_t begin, std::uint64_t end) {
    constexpr std::uint64_t kMaxBytes = 8 << 20;
    if (end <= begin) return;
    const Words words(memory_, {Address{begin}, Address{std::min(end, begin + kMaxBytes)}});
    for (const std::uint64_t word : words.words()) add(kind, word);
  }

  // EternalHandles: how many there are, and a vector of blocks of 256.
  bool read_eternal_handles(std::uint64_t handles) {
    constexpr std::uint64_t kPerBlock = 256;
    constexpr std::uint64_t kMaxHandles = 1 << 24;
    const auto size = memory_.load<std::uint32_t>(Address{handles});
    const auto begin = load(handles + 8);
    const auto end = load(handles + 16);
    const auto capacity = load(handles + 24);
    if (!size || !begin || !end || !capacity || *size == 0 || *size > kMaxHandles || *begin % 8 != 0 ||
        *end < *begin || *capacity < *end || *end - *begin != (*size + kPerBlock - 1) / kPerBlock * 8)
      return false;
    const Words blocks(memory_, {Address{*begin}, Address{*end}});
    const auto first_block = pointee(blocks.words().front());
    if (!first_block || !is_own(*first_block)) return false;
    std::uint64_t left = *size;
    for (const std::uint64_t block : blocks.words()) {
      const std::uint64_t count = std::min(left, kPerBlock);
      add_all(RootKind::kEternalHandles, block, block + count * 8);
      left -= count;
    }
    return true;
  }

  // MicrotaskQueue: after its vtable size, capacity, start, the ring, a counter, and links to the next queue
  // and the one before.
  void read_microtasks(std::uint64_t queue) {
    constexpr std::uint64_t kNext = 48;
    constexpr std::uint64_t kPrevious = 56;
    constexpr std::size_t kMaxQueues = 4096;
    const auto links_back = [&](std::uint64_t at) {
      const auto next = load(at + kNext);
      return next && *next % 8 == 0 && *next != 0 && load(*next + kPrevious) == at;
    };
    std::uint64_t at = queue;
    for (std::size_t count = 0; count < kMaxQueues && links_back(at); ++count) {
      if (!read_microtask_ring(at)) return;
      at = *load(at + kNext);
      if (at == queue) return;
    }
  }

  bool read_microtask_ring(std::uint64_t queue) {
    constexpr std::uint64_t kMaxTasks = 1 << 24;
    const auto size = load(queue + 8);
    const auto capacity = load(queue + 16);
    const auto start = load(queue + 24);
    const auto ring = load(queue + 32);
    if (!size || !capacity || !start || !ring || *capacity > kMaxTasks ||
        (*capacity & (*capacity - 1)) != 0 || *size > *capacity || *start > *capacity)
      return false;
    if (*size == 0) return true;
    if (!pointee(*ring)) return false;
    const std::uint64_t until_end = std::min(*size, *capacity - *start);
    add_all(RootKind::kMicrotasks, *ring + *start * 8, *ring + (*start + until_end) * 8);
    add_all(RootKind::kMicrotasks, *ring, *ring + (*size - until_end) * 8);
    return true;
  }

  // What else belongs to the isolate and holds objects: the tables of the compilation cache.
  void read_cache(std::uint64_t object) {
    constexpr std::uint64_t kBytes = 24 * 8;
    add_all(RootKind::kCompilationCache, object + 8, object + kBytes);
  }

  Memory& memory_;
  const PageTable& pages_;
  Isolate& isolate_;
  Words words_;
};

// Where the stack that is in use ends; the thread's own data follow it in the same mapping.
Address stack_end(const MemoryMap& map, const HeapThread& thread) {
  const Region* region = map.find(thread.stack_pointer);
  if (region == nullptr) return thread.stack_pointer;
  Address end = region->range.end;
  if (region->range.contains(thread.thread_pointer) && thread.thread_pointer > thread.stack_pointer)
    end = thread.thread_pointer;
  return end;
}

// The thread on whose stack the isolate is mentioned most.
const HeapThread* thread_of(Memory& memory, const MemoryMap& map, Address isolate,
                            std::span<const HeapThread> threads) {
  constexpr std::uint64_t kSearched = 1 << 20;
  const HeapThread* best = nullptr;
  std::ptrdiff_t most = 0;
  for (const HeapThread& thread : threads) {
    const Address end = std::min(stack_end(map, thread), thread.stack_pointer + kSearched);
    if (end <= thread.stack_pointer) continue;
    const Words stack(memory, {thread.stack_pointer, end});
    const std::ptrdiff_t count = std::ranges::count(stack.words(), isolate.value);
    if (count > most) {
      most = count;
      best = &thread;
    }
  }
  return best;
}

}  // namespace

std::vector<Isolate> find_isolates(Memory& memory, const MemoryMap& map, std::span<const HeapPage> pages,
                                   std::span<const HeapThread> threads) {
  const PageTable table(pages);
  std::vector<Isolate> isolates;
  FlatMap<std::uint64_t, std::size_t> by_heap;
  for (const HeapPage& page : pages) {
    if (page.kind == SpaceKind::kReadOnly) continue;
    const auto [known, is_new] = by_heap.try_emplace(page.heap.value, isolates.size());
    if (!is_new) {
      if (known->second < isolates.size()) ++isolates[known->second].page_count;
    } else if (isolates.size() < kMaxIsolates) {
      Isolate isolate;
      isolate.heap = page.heap;
      isolate.page_count = 1;
      isolates.push_back(std::move(isolate));
    }
  }
  for (Isolate& isolate : isolates) {
    RootFinder finder(memory, table, isolate);
    finder.find_isolate();
    finder.find_roots();
    if (isolate.isolate.value == 0) continue;
    const HeapThread* thread = thread_of(memory, map, isolate.isolate, threads);
    if (thread == nullptr) continue;
    isolate.tid = thread->tid;
    finder.read_stack(*thread, stack_end(map, *thread));
  }
  // What only looks like a heap.
  std::erase_if(isolates,
                [](const Isolate& isolate) { return isolate.isolate.value == 0 && isolate.page_count < 4; });
  std::ranges::sort(isolates, {},
                    [](const Isolate& isolate) { return std::pair(isolate.tid, isolate.heap); });
  return isolates;
}

}  // namespace nodescope::v8
