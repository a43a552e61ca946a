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

// CallSiteInfo (src/objects/call-site-info.tq): the same in V8 9.4 to 14.6.
constexpr std::int64_t kSiteReceiver = 8;
constexpr std::int64_t kSiteFunction = 16;
constexpr std::int64_t kSiteCode = 24;
constexpr std::int64_t kSiteOffset = 32;

std::optional<TaggedWord> stack_property(Heap& heap, TaggedWord error) {
  std::optional<TaggedWord> found;
  for_each_property(heap, error, [&](const Property& property) {
    if (property.is_accessor) return true;
    std::optional<TaggedWord> name = property.key;
    if (heap.is(property.key, heap.layout().type_symbol))
      name = heap.field(property.key, heap.layout().symbol_name);
    const auto text = name && heap.is_string(*name) ? load_string_prefix(heap, *name, 32) : std::nullopt;
    const std::string key = text ? text->to_utf8() : std::string();
    const bool is_text = key == "stack" && heap.is_string(property.value);
    if (is_text || key == "error_stack_symbol" || key == "stack_trace_symbol") found = property.value;
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
    std::string text;
    for (std::int32_t i = 0; i < std::min(*count, kMaxFrames); ++i) {
      const auto site = heap_.field(sites, kArrayElements + std::int64_t{8} * i);
      if (!site || !site->is_object()) break;
      const auto line = format_site(*site);
      if (!line) break;
      text += *line;
    }
    return text;
  }

 private:
  std::optional<std::string> format_site(TaggedWord site) {
    const auto function = heap_.field(site, kSiteFunction);
    const auto word = function ? shared_of_function(heap_, *function) : std::nullopt;
    const auto shared = word ? SharedFunctionInfo::load(heap_, *word) : std::nullopt;
    if (!shared) return std::nullopt;
    const std::string name =
        name_of(heap_, {*shared, function, heap_.field(site, kSiteReceiver), /*is_eval=*/false});
    const std::string place = place_of(site, *shared);
    return name.empty() ? fmt::format("\n    at {}", place) : fmt::format("\n    at {} ({})", name, place);
  }

  std::string place_of(TaggedWord site, const SharedFunctionInfo& shared) {
    const auto script = shared.script() ? scripts_.load(heap_, *shared.script()) : std::nullopt;
    if (!script) return "native";
    const auto code = heap_.field(site, kSiteCode);
    const auto offset = heap_.field(site, kSiteOffset);
    const auto bytecode = code ? BytecodeArray::load(heap_, *code) : std::nullopt;
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
