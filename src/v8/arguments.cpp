#include "v8/arguments.h"

#include "v8/values.h"

namespace nodescope::v8 {

namespace {

// Behind context and function (StandardFrameConstants::kArgCOffset), a plain number.
constexpr std::uint64_t kCountBelowFrame = 24;

constexpr std::uint64_t kMaxArguments = 65535;  // Code::kMaxArguments

// Since V8 9.7 or so the receiver counts too; in between it depended on the build.
std::optional<std::uint64_t> arguments_in(std::uint64_t raw, const Version& version) {
  if (version < Version{9, 5, 0}) return raw;
  if (version < Version{10, 0, 0} || raw == 0) return std::nullopt;
  return raw - 1;
}

// Of objects and strings.
Address address_of(Heap& heap, TaggedWord value) {
  const int type = heap.type(value);
  const Layout& layout = heap.layout();
  const bool has_one = type >= 0 && (type < layout.type_first_nonstring.value ||
                                     (layout.type_js_proxy.known() && type >= layout.type_js_proxy.value));
  return has_one ? value.address() : Address{};
}

}  // namespace

std::optional<Arguments> read_arguments(Heap& heap, Address frame_pointer) {
  const Layout& layout = heap.layout();
  const auto raw = heap.memory().load<std::uint64_t>(frame_pointer - kCountBelowFrame);
  const auto count = raw ? arguments_in(*raw, layout.version) : std::nullopt;
  if (!count || *count > kMaxArguments || !layout.frame_receiver.known()) return std::nullopt;
  Arguments arguments;
  arguments.count = static_cast<std::size_t>(*count);
  Address place = frame_pointer + static_cast<std::uint64_t>(layout.frame_receiver.value);
  const auto receiver = heap.word(place);
  if (!receiver) return std::nullopt;
  arguments.receiver = describe_value(heap, *receiver);
  arguments.receiver_address = address_of(heap, *receiver);
  for (std::size_t i = 0; i < arguments.count && i < kMaxShownArguments; ++i) {
    place = place + sizeof(TaggedWord);
    const auto value = heap.word(place);
    if (!value) return std::nullopt;
    arguments.values.push_back(describe_value(heap, *value));
    arguments.addresses.push_back(address_of(heap, *value));
  }
  return arguments;
}

}  // namespace nodescope::v8
