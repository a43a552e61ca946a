#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "v8/metadata.h"

namespace nodescope::v8 {

// The numbers that the maps of one V8 give to the types of its objects, by V8's names for them.
class InstanceTypes {
 public:
  static InstanceTypes read(const Metadata& metadata);

  // "JS_MAP_TYPE"; -1 where this V8 has no such type or does not export it.
  int find(std::string_view name) const;
  // The class that V8's source declares for the type, "JSMap"; empty: not known.
  std::string_view class_name(int type) const;
  void add(std::string_view name, std::string_view class_name, int type);
  bool empty() const { return numbers_.empty(); }

 private:
  FlatMap<std::string, int, FastHash> numbers_;
  std::vector<std::string> classes_;  // by number
};

}  // namespace nodescope::v8
