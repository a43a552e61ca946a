#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "base/flat_map.h"
#include "v8/heap_image.h"
#include "v8/layout.h"

namespace nodescope::v8 {

// How the size of an object follows from its bytes.
enum class SizeRule : std::uint8_t {
  kUnknown,
  kFixed,  // as the map says
  kWords,  // header + 8 bytes for each element; the length is a Smi in the second word
  kBytes,  // header + length bytes
  kOneByteString,
  kTwoByteString,
  kPropertyArray,  // the length shares its word with a hash
  kScopeInfo,
  kDescriptorArray,
  kFeedbackVector,
  kFeedbackMetadata,
  kPreparseData,
  kBigInt,
  kFreeSpace,
  kDoubleStringCache,
  kOldCode,  // with its instructions (before V8 11)
  kInstructionStream,
  kStreamOfCode,  // sized by its Code object (V8 11)
};

// Which of its words refer to other objects.
enum class SlotRule : std::uint8_t {
  kNone,  // the map only
  kAll,
  kLinkedString,  // of cons, sliced and thin strings
  kHeader,        // up to the raw bytes
  kTail,          // after raw bytes
  kCode,          // also unaligned ones, in instructions
};

// What the collector treats in its own way.
enum class WeakRule : std::uint8_t {
  kNone,
  kEphemerons,  // key -> value: the value lives as long as the table and the key
  kTwoFields,   // two fields do not hold what they refer to
  kOneField,
  kNativeContext,  // its last fields link contexts and code
};

// What V8 knows about all objects with one map.
struct ObjectShape {
  std::uint64_t map = 0;
  int type = -1;
  SizeRule size_rule = SizeRule::kUnknown;
  SlotRule slot_rule = SlotRule::kNone;
  WeakRule weak_rule = WeakRule::kNone;
  std::uint32_t header_bytes = 0;
  std::uint32_t fixed_bytes = 0;
  std::uint32_t weak_offset = 0;
  bool is_filler = false;    // no object: unused memory
  bool is_receiver = false;  // what JavaScript calls an object
};

// Facts about the memory of one V8 that no metadata tell, found by what fits the heap itself.
struct ShapeCalibration {
  // How many of the objects that were tried are followed by another one.
  struct Fit {
    std::uint32_t fits = 0;
    std::uint32_t tried = 0;
  };
  std::uint32_t feedback_vector_header = 48;
  std::uint32_t boilerplate_header = 32;
  std::uint32_t native_context_header = 16;
  std::uint32_t free_space_unit = 1;
  std::uint32_t scope_info_variant = 0;
  Fit feedback_vector, boilerplate, native_context, free_space, scope_info;
};

// Sizes and slots of the objects in an image, by their maps.  An image may be damaged: what is no object has
// no shape, and a size never leads out of a page.
class ObjectShapes {
 public:
  ObjectShapes(const HeapImage& image, const Layout& layout);

  const Layout& layout() const { return layout_; }
  const HeapImage& image() const { return image_; }
  const ShapeCalibration& calibration() const { return calibration_; }

  // Null unless `map` (tagged) is one.
  const ObjectShape* of_map(std::uint64_t map) {
    CacheSlot& slot = cache_[(map >> 3) % cache_.size()];
    if (slot.map != map) slot = {map, find_shape(map)};
    return slot.shape;
  }
  // Null unless there is an object at `address` (not tagged).
  const ObjectShape* of_object(std::uint64_t address) {
    const auto map = image_.get<std::uint64_t>(address);
    return map ? of_map(*map) : nullptr;
  }
  // In bytes; 0 where it is not known or leads out of the page.  `bytes` begins at the object and ends with
  // its page's objects.
  std::uint64_t size_of(const ObjectShape& shape, std::span<const std::byte> bytes) const;

  // The number that maps of weak hash tables have for their type; -1: not found.
  int ephemeron_table_type() const { return ephemeron_table_type_; }
  bool is_fixed_array(int type) const { return type >= types_.fixed_array && type < types_.fixed_array_end; }
  bool is_context(int type) const { return type >= types_.first_context && type <= types_.last_context; }
  bool is_native_context(int type) const { return type == types_.native_context; }
  bool is_receiver(int type) const { return type >= types_.first_receiver && types_.first_receiver > 0; }
  const auto& types() const { return types_; }

 private:
  struct CacheSlot {
    std::uint64_t map = 0;
    const ObjectShape* shape = nullptr;
  };
  struct Types {
    int first_nonstring = 0, symbol = -1, bigint = -1, map = -1;
    int fixed_array = -1, fixed_array_end = -1, byte_array = -1, fixed_double_array = -1;
    int first_context = -1, last_context = -1, native_context = -1;
    int feedback_vector = -1, feedback_metadata = -1, filler = -1, free_space = -1, hole = -1;
    int scope_info = -1, bytecode_array = -1, code = -1, instruction_stream = -1;
    int descriptor_array = -1, strong_descriptor_array = -1, property_array = -1;
    int weak_fixed_array = -1, transition_array = -1;
    int first_receiver = -1;
    int heap_number = -1, oddball = -1, allocation_site = -1, weak_cell = -1, weak_ref = -1;
  };

  void find_types();
  const ObjectShape* find_shape(std::uint64_t map);
  bool is_meta_map(std::uint64_t map);
  ObjectShape make_shape(std::uint64_t map);
  void set_string_rules(ObjectShape& shape) const;
  void set_variable_size(ObjectShape& shape) const;
  void set_slots(ObjectShape& shape) const;

  std::optional<std::uint64_t> at_code(std::uint64_t code) const;
  struct Examples;
  Examples find_examples(std::span<const int> types);
  bool is_followed(std::span<const std::byte> bytes, std::uint64_t size);
  void calibrate();

  const HeapImage& image_;
  const Layout& layout_;
  Types types_;
  ShapeCalibration calibration_;
  int ephemeron_table_type_ = -1;
  std::deque<ObjectShape> shapes_;
  FlatMap<std::uint64_t, const ObjectShape*> shapes_by_map_;
  FlatMap<std::uint64_t, bool> meta_maps_;
  FlatMap<int, std::pair<SizeRule, std::uint32_t>> sizes_by_type_;
  std::array<CacheSlot, 1024> cache_{};
};

}  // namespace nodescope::v8
