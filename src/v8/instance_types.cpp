#include "v8/instance_types.h"

#include <cstddef>

namespace nodescope::v8 {

namespace {

constexpr int kMaxType = 0xFFFF;  // 16 bits of a map

}  // namespace

// A symbol is type_CLASS__NUMBER_NAME: type_JSMap__JS_MAP_TYPE.
InstanceTypes InstanceTypes::read(const Metadata& metadata) {
  constexpr std::string_view kPrefix = "type_";
  InstanceTypes types;
  for (const auto& [symbol, value] : metadata.with_prefix(kPrefix)) {
    const std::string_view rest = std::string_view(symbol).substr(kPrefix.size());
    const std::size_t separator = rest.find("__");
    if (separator == std::string_view::npos) continue;
    types.add(rest.substr(separator + 2), rest.substr(0, separator), value);
  }
  return types;
}

void InstanceTypes::add(std::string_view name, std::string_view class_name, int type) {
  if (type < 0 || type > kMaxType) return;
  numbers_.emplace(std::string(name), type);
  const auto index = static_cast<std::size_t>(type);
  if (classes_.size() <= index) classes_.resize(index + 1);
  if (classes_[index].empty()) classes_[index] = class_name;
}

int InstanceTypes::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : found->second;
}

std::string_view InstanceTypes::class_name(int type) const {
  const auto index = static_cast<std::size_t>(type);
  return type >= 0 && index < classes_.size() ? std::string_view(classes_[index]) : std::string_view();
}

}  // namespace nodescope::v8
