#include "formats/perf_data/sample_record.h"

#include <algorithm>
#include <bit>

#include "base/byte_reader.h"
#include "formats/perf_data/words.h"

namespace nodescope::perf {

namespace {

using Bytes = std::span<const std::byte>;

std::optional<Bytes> take_words(ByteReader& reader, std::uint64_t count) {
  if (count > reader.remaining() / 8) return std::nullopt;
  return reader.take(count * 8);
}

std::optional<Bytes> take_counted_words(ByteReader& reader) {
  const auto count = reader.read<std::uint64_t>();
  return count ? take_words(reader, *count) : std::nullopt;
}

std::optional<Bytes> take_counters(ByteReader& reader, Bytes body, std::uint64_t read_format) {
  const std::size_t begin = reader.offset();
  std::uint64_t counters = 1;
  std::uint64_t words = 0;
  if ((read_format & kReadGroup) != 0) {
    const auto count = reader.read<std::uint64_t>();
    if (!count || *count > body.size() / 8) return std::nullopt;
    counters = *count;
  }
  words += (read_format & kReadTimeEnabled) != 0 ? 1u : 0u;
  words += (read_format & kReadTimeRunning) != 0 ? 1u : 0u;
  words +=
      counters * (1u + ((read_format & kReadId) != 0 ? 1u : 0u) + ((read_format & kReadLost) != 0 ? 1u : 0u));
  if (!take_words(reader, words)) return std::nullopt;
  return body.subspan(begin, reader.offset() - begin);
}

bool skip_raw(ByteReader& reader) {
  const auto size = reader.read<std::uint32_t>();
  return size && reader.take(*size).has_value();
}

bool skip_branch_stack(ByteReader& reader, std::uint64_t branch_sample_type) {
  const std::uint64_t words_per_branch = (branch_sample_type & kBranchCounters) != 0 ? 4 : 3;
  const auto count = reader.read<std::uint64_t>();
  if (!count || *count > reader.remaining()) return false;
  if ((branch_sample_type & kBranchHwIndex) != 0) reader.take(8);
  return take_words(reader, *count * words_per_branch).has_value();
}

// perf's numbers of the x86 registers (arch/x86/include/uapi/asm/perf_regs.h) that the unwinder can use.
struct SampledRegister {
  unsigned bit;
  Register which;
};
constexpr std::array<SampledRegister, kRegisterCount> kSampledRegisters = {{
    {0, Register::kRax},
    {1, Register::kRbx},
    {2, Register::kRcx},
    {3, Register::kRdx},
    {4, Register::kRsi},
    {5, Register::kRdi},
    {6, Register::kRbp},
    {7, Register::kRsp},
    {8, Register::kRip},
    {16, Register::kR8},
    {17, Register::kR9},
    {18, Register::kR10},
    {19, Register::kR11},
    {20, Register::kR12},
    {21, Register::kR13},
    {22, Register::kR14},
    {23, Register::kR15},
}};

}  // namespace

std::optional<SampleRecord> SampleRecord::parse(const EventAttribute& event, Bytes body) {
  const SampleLayout& layout = event.sample;
  if (body.size() < std::size_t{layout.words} * 8) return std::nullopt;
  const auto word_at = [&](std::uint8_t index) {
    return index == SampleLayout::kAbsent ? 0 : load_word(body, index);
  };
  SampleRecord sample;
  sample.has_ip = layout.ip != SampleLayout::kAbsent;
  sample.ip = word_at(layout.ip);
  const std::uint64_t ids = word_at(layout.tid);
  sample.pid = static_cast<std::int32_t>(ids);
  sample.tid = static_cast<std::int32_t>(ids >> 32);
  sample.time = word_at(layout.time);
  if (layout.cpu != SampleLayout::kAbsent) sample.cpu = static_cast<std::int32_t>(word_at(layout.cpu));
  sample.period = word_at(layout.period);

  // The fields of variable size are in a fixed order.  What comes behind the copy of the stack is not needed,
  // so its sizes need not be known: weight, data source, transaction, registers of the interrupt, addresses,
  // AUX data.
  const std::uint64_t type = event.sample_type;
  ByteReader reader(body);
  reader.take(std::size_t{layout.words} * 8);
  if ((type & kSampleRead) != 0) {
    const auto counters = take_counters(reader, body, event.read_format);
    if (!counters) return std::nullopt;
    sample.counters = *counters;
  }
  if ((type & kSampleCallchain) != 0) {
    const auto callchain = take_counted_words(reader);
    if (!callchain) return std::nullopt;
    sample.callchain = *callchain;
  }
  if ((type & kSampleRaw) != 0 && !skip_raw(reader)) return std::nullopt;
  if ((type & kSampleBranchStack) != 0 && !skip_branch_stack(reader, event.branch_sample_type))
    return std::nullopt;
  if ((type & kSampleRegsUser) != 0) {
    const auto abi = reader.read<std::uint64_t>();
    if (!abi) return std::nullopt;
    sample.register_abi = *abi;
    if (*abi != 0) {
      const auto registers =
          take_words(reader, static_cast<std::uint64_t>(std::popcount(event.user_registers)));
      if (!registers) return std::nullopt;
      sample.registers = *registers;
    }
  }
  if ((type & kSampleStackUser) != 0) {
    const auto size = reader.read<std::uint64_t>();
    const auto stack = size ? reader.take(*size) : std::nullopt;
    if (!stack) return std::nullopt;
    if (*size != 0) {
      const auto used = reader.read<std::uint64_t>();
      if (!used) return std::nullopt;
      sample.stack = stack->first(static_cast<std::size_t>(std::min<std::uint64_t>(*used, stack->size())));
    }
  }
  return sample;
}

RegisterSet registers_of(const EventAttribute& event, const SampleRecord& sample) {
  return registers_of(event.user_registers, sample.registers);
}

RegisterSet registers_of(std::uint64_t which, std::span<const std::byte> words) {
  RegisterSet registers;
  for (const SampledRegister& sampled : kSampledRegisters) {
    const std::uint64_t bit = std::uint64_t{1} << sampled.bit;
    if ((which & bit) == 0) continue;
    const auto index = static_cast<std::size_t>(std::popcount(which & (bit - 1)));
    if (index < words.size() / 8) registers.set(sampled.which, load_word(words, index));
  }
  return registers;
}

}  // namespace nodescope::perf
