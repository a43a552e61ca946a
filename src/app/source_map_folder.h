#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "source_maps/apply.h"

namespace nodescope {

// The source maps in a folder and below: what a build keeps of those that production goes without.
class SourceMapFolder {
 public:
  SourceMapFolder() = default;
  // Reads the names of files, and the debugIds of maps.
  static Result<SourceMapFolder> open(const std::string& folder);

  // The map of a file: the one with its debugId, else the one beside a file of its name and content.  Where
  // the text is not at hand, a file of its name stands for it if there is only one: the places of the profile
  // tell whether it is that.
  std::optional<FoundMap> find(const std::string& file, const std::string* text) const;

 private:
  std::optional<FoundMap> find_by_name(std::string_view name, const std::string* text) const;

  std::map<std::string, std::string> by_debug_id_;                     // paths of maps
  std::multimap<std::string, std::string, std::less<>> by_file_name_;  // of the generated file
};

}  // namespace nodescope
