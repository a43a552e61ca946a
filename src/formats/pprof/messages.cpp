#include "formats/pprof/messages.h"

#include <array>
#include <protozero/exception.hpp>

namespace nodescope::pprof {

namespace {

// Which fields of a message are numbers and which have a length, as bits by field number.
struct Shape {
  std::uint32_t numbers = 0;
  std::uint32_t bytes = 0;

  bool has_number(std::uint32_t field) const { return field < 32 && (numbers >> field & 1) != 0; }
  bool has_bytes(std::uint32_t field) const { return field < 32 && (bytes >> field & 1) != 0; }
};

consteval std::uint32_t fields(std::initializer_list<unsigned> numbers) {
  std::uint32_t bits = 0;
  for (const unsigned number : numbers) bits |= 1u << number;
  return bits;
}

constexpr auto kLastField = static_cast<std::uint32_t>(ProfileField::kDocUrl);

// Repeated numbers may be packed.
constexpr Shape kProfileShape = {fields({7, 8, 9, 10, 12, 13, 14, 15}), fields({1, 2, 3, 4, 5, 6, 11, 13})};
constexpr std::array kPartShapes = {
    Shape{},
    Shape{fields({1, 2}), 0},                           // ValueType
    Shape{fields({1, 2}), fields({1, 2, 3})},           // Sample
    Shape{fields({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 0},  // Mapping
    Shape{fields({1, 2, 3, 5}), fields({4})},           // Location
    Shape{fields({1, 2, 3, 4, 5}), 0},                  // Function
};

bool has_shape(protozero::data_view message, const Shape& shape) {
  bool fits = true;
  try {
    for_each_field<std::uint32_t>(
        message, [&](std::uint32_t field, std::uint64_t) { fits = fits && shape.has_number(field); },
        [&](std::uint32_t field, protozero::data_view) { fits = fits && shape.has_bytes(field); });
  } catch (const protozero::exception&) {
    return false;
  }
  return fits;
}

}  // namespace

bool is_profile(std::string_view head) {
  std::size_t parts = 0;
  bool fits = true;
  // A later version may add fields, but nobody begins with them.
  const auto is_new = [&](std::uint32_t field) { return field > kLastField && parts > 0; };
  try {
    for_each_field<std::uint32_t>(
        {head.data(), head.size()},
        [&](std::uint32_t field, std::uint64_t) {
          fits = fits && (kProfileShape.has_number(field) || is_new(field));
        },
        [&](std::uint32_t field, protozero::data_view part) {
          fits = fits && (kProfileShape.has_bytes(field) || is_new(field));
          if (!fits || field >= kPartShapes.size() || part.empty()) return;
          fits = has_shape(part, kPartShapes[field]);
          ++parts;
        });
  } catch (const protozero::end_of_buffer_exception&) {
    // The head, or the file, ends inside of a message.
    return fits && parts > 0;
  } catch (const protozero::exception&) {
    return false;
  }
  return fits && parts > 0;
}

}  // namespace nodescope::pprof
