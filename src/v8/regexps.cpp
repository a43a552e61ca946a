#include "v8/regexps.h"

#include <cstdint>

#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

constexpr std::uint64_t kWordBytes = 8;
// The frames of two builtins, or of the runtime's C++ functions, and the arguments that they were given.
constexpr std::uint64_t kMaxStackWords = 256;
// Its code for one-byte and for two-byte strings is among the first fields.
constexpr std::int64_t kMaxDataBytes = 16 * kWordBytes;
constexpr std::size_t kMaxPatterns = 1 << 16;

}  // namespace

std::string RegExps::pattern(const CodeFinder::Found& found, Address stack) {
  const std::size_t id = found.id.index();
  if (auto text = search(found.code, stack))
    return new_patterns_.insert_or_assign(id, std::move(*text)).first->second;
  const auto known = patterns_.find(id);
  return known != patterns_.end() ? known->second : "";
}

void RegExps::begin_generation() {
  if (patterns_.size() >= kMaxPatterns) patterns_.clear();
  for (auto& [id, text] : new_patterns_) patterns_.insert_or_assign(id, std::move(text));
  new_patterns_.clear();
}

std::optional<std::string> RegExps::search(const Code& code, Address stack) {
  const Layout& layout = heap_.layout();
  const TaggedWord holder{code.header().value + 1};
  const auto owner = layout.has_instruction_streams() ? heap_.field(holder, layout.stream_code) : holder;
  const auto data = nearest_data(stack);
  if (!owner || !data || !holds(*data, *owner)) return std::nullopt;
  const auto source = heap_.field(*data, layout.regexp_source);
  return source ? load_name(heap_, *source) : std::nullopt;
}

std::optional<TaggedWord> RegExps::nearest_data(Address stack) {
  for (std::uint64_t i = 0; i < kMaxStackWords; ++i) {
    const auto word = heap_.word(stack + i * kWordBytes);
    if (!word) return std::nullopt;
    if (!word->is_object()) continue;
    if (const auto data = data_of(heap_.moved(*word))) return data;
  }
  return std::nullopt;
}

// Of a JSRegExp, or the data itself.
std::optional<TaggedWord> RegExps::data_of(TaggedWord candidate) {
  const Layout& layout = heap_.layout();
  const int type = heap_.type(candidate);
  std::optional<TaggedWord> data;
  if (layout.type_js_regexp.is(type)) data = heap_.field(candidate, layout.js_regexp_data);
  if (layout.type_regexp_data.is(type)) data = candidate;
  return data && data->is_object() && has_source(*data) ? data : std::nullopt;
}

// Up to V8 12 the data is an array like any other: a number for the kind of expression, then its source.
bool RegExps::has_source(TaggedWord data) {
  const std::int64_t offset = heap_.layout().regexp_source.value;
  const auto kind = heap_.field(data, offset - static_cast<std::int64_t>(kWordBytes));
  const auto source = heap_.field(data, offset);
  return kind && kind->is_smi() && source && heap_.is_string(*source);
}

bool RegExps::holds(TaggedWord data, TaggedWord code) {
  for (std::int64_t offset = kWordBytes; offset < kMaxDataBytes; offset += kWordBytes) {
    auto field = heap_.field(data, offset);
    if (field && field->is_object() && heap_.is(*field, heap_.layout().type_code_wrapper))
      field = heap_.field(*field, kWordBytes);
    if (field == code) return true;
  }
  return false;
}

}  // namespace nodescope::v8
