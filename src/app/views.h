#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/call_tree.h"
#include "base/byte_sink.h"
#include "formats/format.h"

namespace nodescope {

struct ViewOptions {
  CountBy count = CountBy::kWeight;
  std::string name = "recording";  // what to call the profile
};

// Something that a profile can be written as: a file format, or a view of it (SVG, table).
struct Writer {
  std::string_view name;
  std::string_view extension;
  std::string_view description;
  bool is_text = true;  // fit for a terminal
  std::function<Result<void>(const Profile&, const ViewOptions&, ByteSink&)> write;
  bool has_one_time_line = false;  // threads that ran at once come one after the other in it
  bool has_one_event = false;      // others are left out
};

const std::vector<Writer>& all_writers();
std::optional<Writer> find_writer(std::string_view name);
std::optional<Writer> writer_of_path(std::string_view path);

// Writes `path`, and says what of the profile its format could not keep.
Result<void> write_as(const Writer& writer, const Profile& profile, const ViewOptions& view,
                      const std::string& path);

}  // namespace nodescope
