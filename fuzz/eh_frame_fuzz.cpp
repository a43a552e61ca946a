// The input is the content of .eh_frame; every function in it is interpreted at three places.
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_reader.h"
#include "binary/eh_frame_entry.h"
#include "binary/eh_frame_expression.h"
#include "binary/eh_frame_rules.h"

namespace {

using namespace nodescope;

class AnyContext final : public ExpressionContext {
 public:
  std::optional<std::uint64_t> register_value(std::uint64_t number) const override {
    return number < kRegisterCount ? std::optional(number * 0x1001) : std::nullopt;
  }
  std::optional<std::uint64_t> memory(std::uint64_t address, std::size_t size_bytes) const override {
    return address % 3 == 0 ? std::nullopt : std::optional(address >> size_bytes);
  }
};

void evaluate_at(const EhFrameSection& section, std::int32_t offset) {
  ByteReader reader(section.bytes.subspan(static_cast<std::size_t>(offset)));
  const auto size = reader.read_varint();
  const auto expression = size ? reader.take(*size) : std::nullopt;
  if (expression) (void)evaluate_expression(*expression, AnyContext(), 0x1234);
}

void interpret(const EhFrameSection& section, const EhFrameFunction& function, FileAddress pc) {
  const auto row = interpret_eh_frame(section, function, pc);
  if (!row) return;
  if (row->cfa.kind == RuleKind::kExpression) evaluate_at(section, row->cfa.offset);
  for (const RegisterRule& rule : row->registers) {
    if (rule.kind == RuleKind::kAtExpression || rule.kind == RuleKind::kExpression)
      evaluate_at(section, rule.value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const EhFrameSection section{std::as_bytes(std::span(data, size)), FileAddress{0x10000}};
  std::optional<std::uint64_t> offset = 0;
  while (offset) {
    if (const auto function = parse_eh_frame_function(section, *offset)) {
      interpret(section, *function, function->range.begin);
      interpret(section, *function, function->range.begin + function->range.size_bytes() / 2);
      interpret(section, *function, function->range.end - 1);
    }
    offset = next_eh_frame_entry(section, *offset);
  }
  return 0;
}
