#include "base/check.h"
#include "formats/folded/folded.h"
#include "read_one.h"

namespace nodescope {
namespace {

std::string write(const Profile& profile) {
  StringSink sink;
  NODESCOPE_CHECK(kFoldedFormat.write(profile, {}, sink).has_value());
  return sink.text();
}

// What was written once is read and written again without a change.
void check_round_trip(std::string_view text) {
  MemorySource source(text, "fuzz");
  const auto first = kFoldedFormat.read(source, {});
  if (!first) return;
  const std::string once = write(*first);
  MemorySource again(once, "fuzz");
  const auto second = kFoldedFormat.read(again, {});
  NODESCOPE_CHECK(second.has_value());
  const std::string twice = write(*second);
  MemorySource last(twice, "fuzz");
  const auto third = kFoldedFormat.read(last, {});
  NODESCOPE_CHECK(third.has_value() && write(*third) == twice);
}

}  // namespace
}  // namespace nodescope

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)nodescope::kFoldedFormat.recognise(text);
  nodescope::check_round_trip(text);
  return nodescope::fuzz_reader(nodescope::kFoldedFormat, data, size);
}
