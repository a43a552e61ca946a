#include <fmt/format.h>

#include <algorithm>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

#include "formats/otlp/read.h"

namespace nodescope::otlp {

namespace {

using protozero::data_view;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

std::string text_of(pbf_reader& reader) {
  const data_view view = reader.get_view();
  return {view.data(), view.size()};
}

// The layout of Sample changed within v1development: the values were field 2 first, and are field 4 since.  A
// number in field 4 or a list in field 3 can only be the older one's link and attributes.
enum class SampleLayout : std::uint8_t { kValuesLast, kValuesFirst };

class Parser {
 public:
  explicit Parser(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  Data parse(std::string_view file) {
    find_layout({file.data(), file.size()});
    guard("the file", [&] { root({file.data(), file.size()}); });
    return std::move(data_);
  }

 private:
  // Damage inside of a message costs that message's rest.
  template <typename Work>
  void guard(std::string_view what, Work work) {
    try {
      work();
    } catch (const protozero::exception& error) {
      diagnostics_.error("profile is cut or damaged: a part is lost",
                         fmt::format("{}: {}", what, error.what()));
    }
  }

  template <typename Each>
  static void for_each(data_view message, Each each) {
    pbf_reader reader(message);
    while (reader.next()) {
      const auto before = reader.data().size();
      each(reader, reader.tag());
      if (reader.data().size() == before) reader.skip();
    }
  }

  static bool is_bytes(pbf_reader& reader) { return reader.wire_type() == pbf_wire_type::length_delimited; }
  static bool is_number(pbf_reader& reader) { return reader.wire_type() == pbf_wire_type::varint; }
  static bool is_fixed(pbf_reader& reader) { return reader.wire_type() == pbf_wire_type::fixed64; }

  static void numbers(pbf_reader& reader, auto&& add) {
    if (is_number(reader)) {
      add(reader.get_uint64());
    } else if (is_bytes(reader)) {
      const auto range = reader.get_packed_uint64();
      for (auto it = range.begin(); it != range.end(); ++it) add(*it);
    }
  }

  void find_layout(data_view file) {
    bool found = false;
    const auto sample = [&](data_view message) {
      for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
        const bool old = (tag == 3 && is_bytes(reader)) || (tag == 4 && is_number(reader));
        const bool today = (tag == 4 && is_bytes(reader)) || (tag == 3 && is_number(reader));
        if (!found && (old || today)) {
          layout_ = old ? SampleLayout::kValuesFirst : SampleLayout::kValuesLast;
          found = true;
        }
      });
    };
    try {
      descend(file, 1, [&](data_view resource) {
        descend(resource, 2, [&](data_view scope) {
          descend(scope, 2, [&](data_view profile) { descend(profile, 2, sample); });
        });
      });
    } catch (const protozero::exception&) {
      // What is damaged is counted when it is read.
    }
  }

  template <typename Each>
  static void descend(data_view message, std::uint32_t field, Each each) {
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (tag == field && is_bytes(reader)) each(reader.get_view());
    });
  }

  void root(data_view message) {
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (!is_bytes(reader)) return;
      const data_view part = reader.get_view();
      if (tag == 1) guard("resource_profiles", [&] { resource(part); });
      if (tag == 2) guard("dictionary", [&] { dictionary(part); });
    });
  }

  void resource(data_view message) {
    const std::size_t number = data_.resources.size();
    data_.resources.emplace_back();
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (!is_bytes(reader)) return;
      const data_view part = reader.get_view();
      if (tag == 1) {
        descend(part, 1, [&](data_view entry) { data_.resources[number].push_back(attribute(entry)); });
      } else if (tag == 2) {
        descend(part, 2, [&](data_view one) { guard("a profile", [&] { profile(one, number); }); });
      }
    });
  }

  void profile(data_view message, std::size_t resource) {
    ProfileData& made = data_.profiles.emplace_back();
    made.resource = resource;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (tag == 1 && is_bytes(reader)) {
        made.sample_type = value_type(reader.get_view());
      } else if (tag == 2 && is_bytes(reader)) {
        made.samples.push_back(sample(reader.get_view()));
      } else if (tag == 3 && is_fixed(reader)) {
        made.time = reader.get_fixed64();
      } else if (tag == 5 && is_bytes(reader)) {
        made.period_type = value_type(reader.get_view());
      } else if (tag == 6 && is_number(reader)) {
        made.period = reader.get_int64();
      } else if (tag == 11) {
        numbers(reader, [&](std::uint64_t index) { made.attributes.push_back(index); });
      }
    });
  }

  static ValueType value_type(data_view message) {
    ValueType made;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (!is_number(reader)) return;
      if (tag == 1) {
        made.type = reader.get_uint64();
      } else if (tag == 2) {
        made.unit = reader.get_uint64();
      }
    });
    return made;
  }

  Sample sample(data_view message) const {
    Sample made;
    const bool first = layout_ == SampleLayout::kValuesFirst;
    const std::uint32_t values = first ? 2 : 4;
    const std::uint32_t attributes = first ? 3 : 2;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (tag == 1 && is_number(reader)) {
        made.stack = reader.get_uint64();
      } else if (tag == values) {
        numbers(reader,
                [&](std::uint64_t value) { made.values.push_back(static_cast<std::int64_t>(value)); });
      } else if (tag == attributes) {
        numbers(reader, [&](std::uint64_t index) { made.attributes.push_back(index); });
      } else if (tag == 5 && is_bytes(reader)) {
        const auto range = reader.get_packed_fixed64();
        for (auto it = range.begin(); it != range.end(); ++it) made.times.push_back(*it);
      } else if (tag == 5 && is_fixed(reader)) {
        made.times.push_back(reader.get_fixed64());
      }
    });
    return made;
  }

  void dictionary(data_view message) {
    Dictionary& made = data_.dictionary;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (!is_bytes(reader)) return;
      if (tag == 5) {
        made.strings.push_back(text_of(reader));
        return;
      }
      const data_view part = reader.get_view();
      guard("the dictionary", [&] {
        if (tag == 1) {
          made.mappings.push_back(mapping(part));
        } else if (tag == 2) {
          made.locations.push_back(location(part));
        } else if (tag == 3) {
          made.functions.push_back(function(part));
        } else if (tag == 6) {
          made.attributes.push_back(attribute(part));
        } else if (tag == 7) {
          made.stacks.push_back(stack(part));
        }
      });
    });
  }

  static Mapping mapping(data_view message) {
    Mapping made;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (tag == 4 && is_number(reader)) made.file = reader.get_uint64();
    });
    return made;
  }

  static Location location(data_view message) {
    Location made;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (tag == 1 && is_number(reader)) {
        made.mapping = reader.get_uint64();
      } else if (tag == 3 && is_bytes(reader)) {
        made.lines.push_back(line(reader.get_view()));
      } else if (tag == 4) {
        numbers(reader, [&](std::uint64_t index) { made.attributes.push_back(index); });
      }
    });
    return made;
  }

  static Line line(data_view message) {
    Line made;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (!is_number(reader)) return;
      if (tag == 1) {
        made.function = reader.get_uint64();
      } else if (tag == 2) {
        made.line = reader.get_uint64();
      } else if (tag == 3) {
        made.column = reader.get_uint64();
      }
    });
    return made;
  }

  static Function function(data_view message) {
    Function made;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (!is_number(reader)) return;
      if (tag == 1) {
        made.name = reader.get_uint64();
      } else if (tag == 2) {
        made.system_name = reader.get_uint64();
      } else if (tag == 3) {
        made.file = reader.get_uint64();
      } else if (tag == 4) {
        made.start_line = reader.get_uint64();
      }
    });
    return made;
  }

  static std::vector<std::uint64_t> stack(data_view message) {
    std::vector<std::uint64_t> locations;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (tag == 1) numbers(reader, [&](std::uint64_t index) { locations.push_back(index); });
    });
    return locations;
  }

  // Of a resource the key is a text, of the dictionary its number.
  static Attribute attribute(data_view message) {
    Attribute made;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (tag == 1 && is_number(reader)) {
        made.key = reader.get_uint64();
      } else if (tag == 1 && is_bytes(reader)) {
        made.name = text_of(reader);
      } else if (tag == 2 && is_bytes(reader)) {
        made.value = any_value(reader.get_view());
      }
    });
    return made;
  }

  static std::string any_value(data_view message) {
    std::string made;
    for_each(message, [&](pbf_reader& reader, std::uint32_t tag) {
      if (tag == 1 && is_bytes(reader)) {
        made = text_of(reader);
      } else if (tag == 3 && is_number(reader)) {
        made = fmt::format("{}", reader.get_int64());
      }
    });
    return made;
  }

  Diagnostics& diagnostics_;
  Data data_;
  SampleLayout layout_ = SampleLayout::kValuesLast;
};

// Whether all fields of `message`, which may be cut anywhere, are messages or texts with numbers from 1 to
// `last`.
bool has_only_parts(std::string_view message, std::uint64_t last, auto&& each) {
  constexpr std::uint64_t kLengthDelimited = 2;
  const char* next = message.data();
  const char* const end = next + message.size();
  try {
    while (next != end) {
      const std::uint64_t key = protozero::decode_varint(&next, end);
      const std::uint64_t field = key >> 3;
      if ((key & 7) != kLengthDelimited || field == 0 || field > last) return false;
      const std::uint64_t length = protozero::decode_varint(&next, end);
      const std::size_t size = std::min<std::uint64_t>(length, static_cast<std::size_t>(end - next));
      if (!each(field, std::string_view(next, size))) return false;
      next += size;
    }
  } catch (const protozero::end_of_buffer_exception&) {
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

}  // namespace

Data parse_protobuf(std::string_view file, Diagnostics& diagnostics) {
  return Parser(diagnostics).parse(file);
}

bool is_protobuf(std::string_view head) {
  constexpr std::uint64_t kLastOfResource = 3;
  constexpr std::uint64_t kLastOfDictionary = 7;
  bool any = false;
  const auto anything = [](std::uint64_t, std::string_view) { return true; };
  const auto part = [&](std::uint64_t field, std::string_view message) {
    if (field == 2) {
      any = any || !message.empty();
      return has_only_parts(message, kLastOfDictionary, anything);
    }
    return has_only_parts(message, kLastOfResource, [&](std::uint64_t inner, std::string_view scope) {
      if (inner != 2) return true;
      any = true;
      return has_only_parts(scope, kLastOfResource, anything);
    });
  };
  return has_only_parts(head, 2, part) && any;
}

}  // namespace nodescope::otlp
