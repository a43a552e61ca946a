#include "v8/code_finder.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/hash.h"
#include "v8/object_cache.h"

namespace nodescope::v8 {

namespace {

// How far the header of the largest function's code may be away.
constexpr std::uint64_t kMaxLookBackBytes = 4 << 20;
constexpr std::uint64_t kMaxHeaderBytes = 256;
constexpr std::size_t kMaxEntries = 1 << 16;

// Where nothing was found twice is not searched again at once: the search is long.  Once may be because a
// collector was just at work.
constexpr std::uint64_t kGenerationsOfNothing = 4;

constexpr std::uint64_t kMaxHashedBytes = 64 << 10;

std::uint64_t hash_of(Heap& heap, Range<Address> instructions) {
  std::string bytes(std::min(instructions.size_bytes(), kMaxHashedBytes), '\0');
  const bool read = heap.memory().read(instructions.begin, std::as_writable_bytes(std::span(bytes)));
  return read ? hash_bytes(bytes) : 0;
}

Tier tier_of(const Layout& layout, int kind) {
  if (layout.code_kind_baseline.is(kind)) return Tier::kBaseline;
  if (kind == layout.code_kind_turbofan()) return Tier::kTurbofan;
  return kind == layout.code_kind_maglev() ? Tier::kMaglev : Tier::kNone;
}

// Their kinds follow that of regular expressions, in V8 9.0 to 14.6 (src/objects/code-kind.h).
std::string_view wrapper_of(const Layout& layout, int kind) {
  switch (kind - layout.code_kind_regexp()) {
    case 2:
      return "wasm-to-capi";
    case 3:
      return "wasm-to-js";
    case 4:
      return "js-to-wasm";
    default:
      return {};
  }
}

}  // namespace

std::string_view to_string(Tier tier) {
  switch (tier) {
    case Tier::kNone:
      return "";
    case Tier::kInterpreter:
      return "interpreter";
    case Tier::kBaseline:
      return "baseline";
    case Tier::kMaglev:
      return "maglev";
    case Tier::kTurbofan:
      return "turbofan";
  }
  return "";
}

std::optional<Code> Code::load(Heap& heap, Address header) {
  const Layout& layout = heap.layout();
  TaggedWord object{header.value + 1};
  Address start;
  if (layout.has_instruction_streams()) {
    const auto owner = heap.field(object, layout.stream_code);
    if (!owner || !heap.is(*owner, layout.type_code)) return std::nullopt;
    object = *owner;
    const auto word = heap.field(object, layout.code_start);
    if (!word) return std::nullopt;
    start = Address{word->value};
  } else {
    if (!heap.is(object, layout.type_code)) return std::nullopt;
    start = header + static_cast<std::uint64_t>(layout.code_start.value);
  }
  const Address fields = object.address();
  const auto size =
      heap.memory().load<std::uint32_t>(fields + static_cast<std::uint64_t>(layout.code_size.value));
  const auto flags =
      heap.memory().load<std::uint32_t>(fields + static_cast<std::uint64_t>(layout.code_flags.value));
  const auto deopt = heap.field(object, layout.code_deopt);
  const auto positions = heap.field(object, layout.code_positions);
  if (!size || !flags || !deopt || !positions) return std::nullopt;
  if (start <= header || start - header > kMaxHeaderBytes) return std::nullopt;
  Code code;
  code.header_ = header;
  code.instructions_ = {start, start + *size};
  const auto kind = static_cast<int>(*flags & layout.code_kind_mask.mask());
  code.tier_ = tier_of(layout, kind);
  code.is_regexp_ = kind == layout.code_kind_regexp();
  code.is_builtin_ = kind == layout.code_kind_builtin();
  code.wrapper_ = wrapper_of(layout, kind);
  if (code.is_regexp_) code.regexp_hash_ = hash_of(heap, code.instructions_);
  code.deopt_ = *deopt;
  code.positions_ = *positions;
  return code;
}

bool Code::is_given_up_form_of(const Code& before, Heap& heap) const {
  Code same = before;
  same.deopt_ = deopt_;
  return *this == same && heap.array_length(deopt_) == 0;
}

bool CodeFinder::is_current(Entry& entry) {
  if (entry.generation == generation_) return true;
  if (!entry.found)
    return entry.searched_in_vain_before && generation_ - entry.generation < kGenerationsOfNothing;
  const auto now = Code::load(heap_, entry.found->code.header());
  if (!now && heap_.memory().is_gone()) return generation_ - entry.generation <= kRecentGenerations;
  if (!now || (*now != entry.found->code && !now->is_given_up_form_of(entry.found->code, heap_)))
    return false;
  entry.found->code = *now;
  entry.generation = generation_;
  return true;
}

const CodeFinder::Found* CodeFinder::find(Address pc, Range<Address> region) {
  bool searched_in_vain = false;
  const auto next = entries_.upper_bound(pc);
  if (next != entries_.begin()) {
    const auto known = std::prev(next);
    Entry& entry = known->second;
    const bool covers = entry.found ? entry.found->code.instructions().contains(pc) : known->first == pc;
    if (covers && is_current(entry)) return entry.found ? &*entry.found : nullptr;
    if (covers) {
      searched_in_vain = !entry.found;
      entries_.erase(known);
    }
  }
  if (entries_.size() >= kMaxEntries) entries_.clear();
  Entry entry{std::nullopt, generation_, searched_in_vain};
  if (const auto code = search(pc, region)) entry.found = Found{CodeId{next_id_++}, *code};
  const Address key = entry.found ? entry.found->code.instructions().begin : pc;
  const auto inserted = entries_.insert_or_assign(key, entry).first;
  return inserted->second.found ? &*inserted->second.found : nullptr;
}

// Looks at every word before pc for the map of an object with instructions.  The nearest one decides: if pc
// is not in it, it is in none.
std::optional<Code> CodeFinder::search(Address pc, Range<Address> region) {
  const Layout& layout = heap_.layout();
  const Fact& type = layout.has_instruction_streams() ? layout.type_instruction_stream : layout.type_code;
  const std::uint64_t lowest =
      std::max(region.begin.value, pc.value - std::min(pc.value, kMaxLookBackBytes)) & ~std::uint64_t{7};
  std::array<std::uint64_t, 64> words{};
  std::uint64_t end = (pc.value & ~std::uint64_t{7}) + 8;
  while (end > lowest) {
    const std::uint64_t begin = std::max(lowest, end - std::min<std::uint64_t>(end, sizeof words));
    const auto part = std::span(words).first((end - begin) / sizeof(std::uint64_t));
    if (!heap_.memory().read(Address{begin}, std::as_writable_bytes(part))) return std::nullopt;
    for (std::size_t i = part.size(); i-- > 0;) {
      const TaggedWord word{part[i]};
      // Maps are aligned and in the lower half of the address space: this drops nearly all instructions.
      if ((word.value & 7) != 1 || word.value >> 47 != 0 || word.value < 0x10000) continue;
      if (!type.is(heap_.type_of_map(word))) continue;
      auto code = Code::load(heap_, Address{begin + 8 * i});
      if (!code || code->instructions().begin > pc) continue;
      return code->instructions().contains(pc) ? code : std::nullopt;
    }
    end = begin;
  }
  return std::nullopt;
}

}  // namespace nodescope::v8
