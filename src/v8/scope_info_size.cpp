#include "v8/scope_info_size.h"

#include <cstring>

namespace nodescope::v8 {

namespace {

constexpr std::int64_t kMaxLocals = 1 << 20;
constexpr std::int64_t kMaxInlinedNames = 75;  // more are in a hash table

class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t word(std::uint64_t index) const {
    std::uint64_t value = 0;
    if ((index + 1) * 8 <= bytes_.size()) std::memcpy(&value, bytes_.data() + index * 8, sizeof value);
    return value;
  }
  std::int64_t smi(std::uint64_t index) const { return static_cast<std::int64_t>(word(index)) >> 32; }

 private:
  std::span<const std::byte> bytes_;
};

bool bit(std::uint32_t flags, unsigned number) {
  return (flags >> number & 1) != 0;
}

// Scopes that know where they begin and end, where not all do.
bool has_positions_at_end(std::uint32_t flags, std::uint32_t variant) {
  const std::uint32_t type = flags & 15;
  const bool is_empty = bit(flags, 29);
  if ((variant & scope_info::kNewScopeTypes) != 0)
    return type == 4 || type <= 1 || type == 3 || type == 5 || type == 9 || (type == 2 && !is_empty);
  return (type >= 1 && type <= 4) || type == 8 ||
         (type == 0 && !is_empty && (variant & scope_info::kReceiverSlot) == 0);
}

}  // namespace

std::uint32_t scope_info_variant(const Version& version) {
  using namespace scope_info;
  if (version < Version{9, 8, 0}) return kReceiverSlot;
  if (version < Version{12, 1, 0}) return 0;
  if (version < Version{12, 8, 0}) return kModuleCountInHeader;
  constexpr std::uint32_t kNew = kPositionsInHeader | kRawFlags | kNewScopeTypes | kModuleCountInHeader;
  return version < Version{14, 0, 0} ? kNew : kNew | kUnusedParameterBits;
}

std::uint64_t scope_info_bytes(std::span<const std::byte> bytes, std::uint32_t variant) {
  const auto has = [&](std::uint32_t part) { return (variant & part) != 0; };
  const Fields fields(bytes);
  const std::uint32_t flags = has(scope_info::kRawFlags) ? static_cast<std::uint32_t>(fields.word(1))
                                                         : static_cast<std::uint32_t>(fields.smi(1));
  const std::int64_t locals = fields.smi(3);
  if (locals < 0 || locals > kMaxLocals) return 0;
  const auto count = static_cast<std::uint64_t>(locals);
  const std::uint32_t type = flags & 15;
  const bool is_module = type == (has(scope_info::kNewScopeTypes) ? 5U : 3U);
  const bool is_function = type == (has(scope_info::kNewScopeTypes) ? 4U : 2U);
  std::uint64_t words = 4;
  std::int64_t module_variables = 0;
  if (has(scope_info::kPositionsInHeader)) words += 2;
  if (is_module && has(scope_info::kModuleCountInHeader)) module_variables = fields.smi(words++);
  words += (has(scope_info::kReceiverSlot) || locals < kMaxInlinedNames ? count : 1) + count;
  if (bit(flags, 10)) ++words;  // saved class variable
  const std::uint32_t receiver = flags >> 7 & 3;
  if (has(scope_info::kReceiverSlot) && (receiver == 1 || receiver == 2)) ++words;
  if ((flags >> 12 & 3) != 0) words += 2;  // function variable
  if (bit(flags, 14)) ++words;             // inferred name
  if (!has(scope_info::kPositionsInHeader) && has_positions_at_end(flags, variant)) words += 2;
  if (bit(flags, 22)) ++words;  // outer scope
  if (has(scope_info::kLocalsBlockList) && bit(flags, 28)) ++words;
  if (is_module) {
    ++words;
    if (!has(scope_info::kModuleCountInHeader)) module_variables = fields.smi(words++);
    if (module_variables < 0 || module_variables > kMaxLocals) return 0;
    words += 3 * static_cast<std::uint64_t>(module_variables);
  }
  if (has(scope_info::kDependentCode) && bit(flags, 4)) ++words;
  if (has(scope_info::kUnusedParameterBits) && is_function) ++words;
  return words * 8;
}

}  // namespace nodescope::v8
