#include "v8/error_stack.h"

#include <fmt/format.h>

#include "v8/function_name.h"
#include "v8/objects.h"
#include "v8/positions.h"
#include "v8/properties.h"
#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxStackUnits = 100'000;
constexpr std::int32_t kMaxFrames = 200;  // Error.stackTraceLimit is 10 by default
constexpr std::int64_t kArrayElements = 16;

// CallSiteInfo (src/objects/call-site-info.tq) begins with receiver, function and code, in V8 12 and newer
// with the code first; then comes where in the code the call is.  V8 14.6 puts the same words, with
// parameters and flags after them, into one array for all frames.
constexpr std::int64_t kSiteWords = 3;
constexpr std::int32_t kWordsInArray = 6;

// V8 keeps the message under such a key too (V8 14).
bool may_be_stack(Heap& heap, TaggedWord value) {
  if (!heap.is_string(value)) return value.is_object();
  const auto text = load_string_prefix(heap, value, kMaxStackUnits);
  return text && text->to_utf8().contains("\n    at ");
}

std::optional<TaggedWord> stack_property(Heap& heap, TaggedWord error) {
  std::optional<TaggedWord> found;
  for_each_property(heap, error, [&](const Property& property) {
    if (property.is_accessor) return true;
    if (is_stack_symbol(heap, property.key) && may_be_stack(heap, property.value)) found = property.value;
    const auto key = heap.is_string(property.key) ? load_string_prefix(heap, property.key, 8) : std::nullopt;
    const bool is_text = key && key->to_utf8() == "stack" && heap.is_string(property.value);
    if (is_text) found = property.value;
    return !is_text;
  });
  return found;
}

class Formatter {
 public:
  Formatter(Heap& heap, Scripts& scripts) : heap_(heap), scripts_(scripts) {}

  std::optional<std::string> format(TaggedWord sites) {
    const auto count = heap_.array_length(sites);
    if (!count) return std::nullopt;
    const bool is_flat = *count % kWordsInArray == 0 && is_flat_array(sites);
    const std::int32_t frames = is_flat ? *count / kWordsInArray : *count;
    std::string text;
    for (std::int32_t i = 0; i < std::min(frames, kMaxFrames); ++i) {
      const std::int64_t words = is_flat ? kWordsInArray : 1;
      const Address element = sites.address() + static_cast<std::uint64_t>(kArrayElements + 8 * words * i);
      const auto site = heap_.word(element);
      if (!site || !site->is_object()) break;
      const auto line = format_site(is_flat ? element : site->address() + 8);
      if (!line) break;
      text += *line;
    }
    if (*count > 0 && text.empty()) return std::nullopt;
    return text;
  }

 private:
  // The fourth word of a frame is a number.
  bool is_flat_array(TaggedWord sites) {
    const auto offset = heap_.field(sites, kArrayElements + 8 * kSiteWords);
    return offset && offset->is_smi();
  }

  std::optional<std::string> format_site(Address site) {
    std::optional<TaggedWord> function;
    std::optional<TaggedWord> receiver;
    std::optional<BytecodeArray> bytecode;
    for (std::int64_t i = 0; i < kSiteWords; ++i) {
      const auto field = heap_.word(site + static_cast<std::uint64_t>(8 * i));
      if (!field) return std::nullopt;
      if (auto code = bytecode_of(*field)) {
        bytecode = std::move(code);
      } else if (heap_.is_function(*field)) {
        function = field;
      } else {
        receiver = field;
      }
    }
    const auto word = function ? shared_of_function(heap_, *function) : std::nullopt;
    const auto shared = word ? SharedFunctionInfo::load(heap_, *word) : std::nullopt;
    if (!shared) return std::nullopt;
    const std::string name = name_of(heap_, {*shared, function, receiver, /*is_eval=*/false});
    const auto offset = heap_.word(site + static_cast<std::uint64_t>(8 * kSiteWords));
    const std::string place = place_of(offset, *shared, bytecode);
    return name.empty() ? fmt::format("\n    at {}", place) : fmt::format("\n    at {} ({})", name, place);
  }

  // Since V8 12 there is a wrapper around what lies in trusted memory.
  std::optional<BytecodeArray> bytecode_of(TaggedWord field) {
    if (auto direct = BytecodeArray::load(heap_, field)) return direct;
    const auto wrapped = field.is_object() ? heap_.field(field, 8) : std::nullopt;
    return wrapped ? BytecodeArray::load(heap_, *wrapped) : std::nullopt;
  }

  std::string place_of(std::optional<TaggedWord> offset, const SharedFunctionInfo& shared,
                       const std::optional<BytecodeArray>& bytecode) {
    const auto script = shared.script() ? scripts_.load(heap_, *shared.script()) : std::nullopt;
    if (!script) return "native";
    if (bytecode && offset && offset->is_smi()) {
      const auto encoding =
          heap_.layout().version < Version{13, 7, 0} ? PositionEncoding::kSigned : PositionEncoding::kFlags;
      const auto position = find_position(bytecode->positions(), offset->smi(), encoding);
      const auto place = position ? scripts_.place(*script, position->offset()) : std::nullopt;
      if (place) return fmt::format("{}:{}:{}", scripts_.name(*script), place->line, place->column);
    }
    return scripts_.name(*script);
  }

  Heap& heap_;
  Scripts& scripts_;
};

}  // namespace

bool is_stack_symbol(Heap& heap, TaggedWord key) {
  if (!heap.is(key, heap.layout().type_symbol)) return false;
  const auto name = heap.field(key, heap.layout().symbol_name);
  if (!name || !heap.is_string(*name)) return true;  // V8's own have no description
  const auto text = load_string_prefix(heap, *name, 32);
  return text && (text->to_utf8() == "error_stack_symbol" || text->to_utf8() == "stack_trace_symbol");
}

std::optional<std::string> error_stack(Heap& heap, Scripts& scripts, TaggedWord error,
                                       std::string_view class_name, std::string_view message) {
  auto value = stack_property(heap, error);
  if (!value) return std::nullopt;
  // ErrorStackData: frames or text first.
  if (!heap.is_string(*value) && !heap.array_length(*value)) value = heap.field(*value, 8);
  if (!value) return std::nullopt;
  if (heap.is_string(*value)) {
    const auto text = load_string_prefix(heap, *value, kMaxStackUnits);
    return text ? std::optional(text->to_utf8()) : std::nullopt;
  }
  auto frames = Formatter(heap, scripts).format(*value);
  if (!frames) return std::nullopt;
  return fmt::format("{}{}{}{}", class_name, message.empty() ? "" : ": ", message, *frames);
}

}  // namespace nodescope::v8
