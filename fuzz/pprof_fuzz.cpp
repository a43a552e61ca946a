#include <cstdint>
#include <memory>
#include <string>

#include "formats/input.h"
#include "formats/pprof/pprof.h"
#include "read_one.h"

namespace nodescope {
namespace {

std::string write(const Profile& profile) {
  StringSink sink;
  NODESCOPE_CHECK(kPprofFormat.write(profile, {}, sink));
  return sink.text();
}

Profile read_again(const std::string& file) {
  auto content = open_content(std::make_unique<MemorySource>(file, "fuzz"));
  NODESCOPE_CHECK(content.has_value());
  NODESCOPE_CHECK(kPprofFormat.recognise((*content)->head()));
  auto profile = kPprofFormat.read(**content, {});
  NODESCOPE_CHECK(profile.has_value());
  return std::move(*profile);
}

// What was read is written so that it reads the same; names become valid UTF-8 on the way, so the first copy
// counts.
void check_round_trip(std::string_view input) {
  MemorySource source(input, "fuzz");
  const auto profile = kPprofFormat.read(source, {});
  if (!profile) return;
  const Profile first = read_again(write(*profile));
  const std::string written = write(first);
  const Profile second = read_again(written);
  NODESCOPE_CHECK(first.samples.size() == second.samples.size());
  NODESCOPE_CHECK(write(second) == written);
}

}  // namespace
}  // namespace nodescope

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  nodescope::kPprofFormat.recognise(input);
  nodescope::fuzz_reader(nodescope::kPprofFormat, data, size);
  nodescope::check_round_trip(input);
  return 0;
}
