// Facts about sizes that no metadata tell: a number is right when the objects that have it are followed by
// others.

#include <algorithm>
#include <cstring>
#include <vector>

#include "v8/object_shape.h"
#include "v8/scope_info_size.h"

namespace nodescope::v8 {

namespace {

// What is searched for examples: a heap has enough of them in its first pages.
constexpr std::uint64_t kMaxSearchedBytes = std::uint64_t{24} << 20;
constexpr std::size_t kMaxExamples = 600;
constexpr std::uint64_t kMaxElements = 100'000;

struct Example {
  std::uint64_t address = 0;
  std::span<const std::byte> bytes;  // up to the end of the page's objects

  std::uint64_t word(std::uint64_t offset) const {
    std::uint64_t value = 0;
    if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
};

// Pages whose objects stay where they are.
bool is_searched(const HeapImage::Page& page) {
  return !page.page.is_large && (page.page.kind == SpaceKind::kOld || page.page.kind == SpaceKind::kReadOnly);
}

template <typename Visit>
void for_each_word(const HeapImage& image, const Visit& visit) {
  std::uint64_t searched = 0;
  for (const HeapImage::Page& page : image.pages()) {
    if (!is_searched(page) || searched > kMaxSearchedBytes) continue;
    const std::uint64_t begin = page.page.objects.begin.value;
    const std::uint64_t offset = begin - page.page.range.begin.value;
    const std::uint64_t end =
        std::min<std::uint64_t>(page.bytes.size(), offset + page.page.objects.size_bytes());
    if (offset >= end) continue;
    const auto bytes = page.bytes.subspan(offset, end - offset);
    searched += bytes.size();
    for (std::uint64_t at = 0; at + 8 <= bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      visit(word, begin + at, bytes.subspan(at));
    }
  }
}

}  // namespace

// The examples of each type that needs one.
struct ObjectShapes::Examples {
  FlatMap<int, std::vector<Example>> by_type;
};

ObjectShapes::Examples ObjectShapes::find_examples(std::span<const int> types) {
  std::vector<std::uint64_t> meta_maps;
  for_each_word(image_, [&](std::uint64_t word, std::uint64_t address, std::span<const std::byte>) {
    if (word == address + 1 && is_meta_map(word)) meta_maps.push_back(word);
  });
  FlatMap<std::uint64_t, int> maps;
  std::uint64_t last_meta_map = 0;
  for_each_word(image_, [&](std::uint64_t word, std::uint64_t address, std::span<const std::byte>) {
    if (word != last_meta_map) {
      if ((word & 7) != 1 || std::ranges::find(meta_maps, word) == meta_maps.end()) return;
      last_meta_map = word;
    }
    const int type =
        image_.get<std::uint16_t>(address + static_cast<std::uint64_t>(layout_.map_instance_type.value))
            .value_or(0);
    if (std::ranges::find(types, type) != types.end()) maps.emplace(address + 1, type);
  });
  Examples examples;
  for_each_word(image_, [&](std::uint64_t word, std::uint64_t address, std::span<const std::byte> bytes) {
    if ((word & 7) != 1) return;
    const auto found = maps.find(word);
    if (found == maps.end()) return;
    std::vector<Example>& list = examples.by_type[found->second];
    if (list.size() < kMaxExamples) list.push_back({address, bytes});
  });
  return examples;
}

// Whether an object, or nothing, follows.
bool ObjectShapes::is_followed(std::span<const std::byte> bytes, std::uint64_t size) {
  if (size == bytes.size()) return true;
  if (size % 8 != 0 || size + 8 > bytes.size()) return false;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + size, sizeof word);
  return of_map(word) != nullptr;
}

void ObjectShapes::calibrate() {
  const int boilerplate = layout_.instance_types.find("OBJECT_BOILERPLATE_DESCRIPTION_TYPE");
  const int weak_map = layout_.instance_types.find("JS_WEAK_MAP_TYPE");
  const std::array<int, 6> types = {types_.feedback_vector, boilerplate,       types_.native_context,
                                    types_.free_space,      types_.scope_info, weak_map};
  const Examples examples = find_examples(types);
  const auto of = [&](int type) -> std::span<const Example> {
    const auto found = examples.by_type.find(type);
    return found == examples.by_type.end() ? std::span<const Example>() : found->second;
  };
  // The number among `candidates` that fits most often; the default where others fit no better.
  const auto best = [&](int type, std::uint32_t& value, ShapeCalibration::Fit& fit,
                        std::span<const std::uint32_t> candidates, const auto& size_of) {
    fit.tried = static_cast<std::uint32_t>(of(type).size());
    const std::uint32_t standard = value;
    const auto count = [&](std::uint32_t candidate) {
      return static_cast<std::uint32_t>(std::ranges::count_if(of(type), [&](const Example& example) {
        const std::uint64_t size = size_of(example, candidate);
        return size != 0 && is_followed(example.bytes, size);
      }));
    };
    fit.fits = count(standard);
    for (const std::uint32_t candidate : candidates) {
      const std::uint32_t fits = count(candidate);
      if (fits > fit.fits) {
        fit.fits = fits;
        value = candidate;
      }
    }
  };
  constexpr std::array<std::uint32_t, 9> kHeaders = {16, 24, 32, 40, 48, 56, 64, 72, 80};
  const auto elements = [](std::uint64_t count) { return count > kMaxElements ? 0 : 8 * count; };
  best(types_.feedback_vector, calibration_.feedback_vector_header, calibration_.feedback_vector, kHeaders,
       [&](const Example& example, std::uint32_t header) {
         return header + elements(static_cast<std::uint32_t>(example.word(8)));
       });
  const auto array_bytes = [&](const Example& example, std::uint32_t header) {
    return header + elements(example.word(8) >> 32);
  };
  best(boilerplate, calibration_.boilerplate_header, calibration_.boilerplate, kHeaders, array_bytes);
  best(types_.native_context, calibration_.native_context_header, calibration_.native_context, kHeaders,
       array_bytes);
  constexpr std::array<std::uint32_t, 2> kUnits = {1, 8};
  best(types_.free_space, calibration_.free_space_unit, calibration_.free_space, kUnits,
       [](const Example& example, std::uint32_t unit) { return (example.word(8) >> 32) * unit; });
  calibration_.scope_info_variant = scope_info_variant(layout_.version);
  std::array<std::uint32_t, scope_info::kVariants> variants{};
  for (std::uint32_t i = 0; i < scope_info::kVariants; ++i) variants[i] = i;
  best(
      types_.scope_info, calibration_.scope_info_variant, calibration_.scope_info, variants,
      [](const Example& example, std::uint32_t variant) { return scope_info_bytes(example.bytes, variant); });

  // The table of a WeakMap is the field after those of all objects.
  constexpr std::uint64_t kTable = 24;
  FlatMap<int, int> tables;
  for (const Example& example : of(weak_map)) {
    const ObjectShape* table = of_object(example.word(kTable) - 1);
    if (table != nullptr && is_fixed_array(table->type)) ++tables[table->type];
  }
  int most = 0;
  for (const auto& [type, count] : tables) {
    if (count <= most) continue;
    most = count;
    ephemeron_table_type_ = type;
  }
}

}  // namespace nodescope::v8
