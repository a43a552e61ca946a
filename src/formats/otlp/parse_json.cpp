#include <fmt/format.h>

#include "formats/otlp/read.h"

namespace nodescope::otlp {

namespace {

class Parser {
 public:
  explicit Parser(json::Reader& reader) : reader_(reader) {}

  Data parse() {
    members([&](std::string_view key) {
      if (key == "resourceProfiles") {
        elements([&] { resource(); });
      } else if (key == "dictionary") {
        dictionary();
      }
    });
    return std::move(data_);
  }

 private:
  void members(auto&& each) {
    auto object = reader_.object();
    while (const auto key = object.next()) each(std::string(*key));
  }

  void elements(auto&& each) {
    auto array = reader_.array();
    while (array.next()) each();
  }

  std::uint64_t count() {
    const auto number = reader_.number();
    return number ? number->as_count() : 0;
  }

  std::string text() {
    if (reader_.peek() == json::Type::kNumber) {
      const auto number = reader_.number();
      return fmt::format("{}", number ? number->rounded() : 0);
    }
    return std::string(reader_.peek() == json::Type::kString ? reader_.string().value_or("") : "");
  }

  void counts(std::vector<std::uint64_t>& into) {
    reader_.numbers([&](const auto& number) { into.push_back(number ? number->as_count() : 0); });
  }

  void resource() {
    const std::size_t index = data_.resources.size();
    data_.resources.emplace_back();
    members([&](std::string_view key) {
      if (key == "resource") {
        members([&](std::string_view inner) {
          if (inner == "attributes") elements([&] { data_.resources[index].push_back(attribute()); });
        });
      } else if (key == "scopeProfiles") {
        elements([&] {
          members([&](std::string_view inner) {
            if (inner == "profiles") elements([&] { profile(index); });
          });
        });
      }
    });
  }

  void profile(std::size_t resource) {
    ProfileData made;
    made.resource = resource;
    members([&](std::string_view key) {
      if (key == "sampleType") {
        made.sample_type = value_type();
      } else if (key == "periodType") {
        made.period_type = value_type();
      } else if (key == "period") {
        made.period = static_cast<std::int64_t>(count());
      } else if (key == "timeUnixNano") {
        made.time = count();
      } else if (key == "attributeIndices") {
        counts(made.attributes);
      } else if (key == "samples" || key == "sample") {
        elements([&] { made.samples.push_back(sample()); });
      }
    });
    data_.profiles.push_back(std::move(made));
  }

  ValueType value_type() {
    ValueType made;
    members([&](std::string_view key) {
      if (key == "typeStrindex") {
        made.type = count();
      } else if (key == "unitStrindex") {
        made.unit = count();
      }
    });
    return made;
  }

  Sample sample() {
    Sample made;
    members([&](std::string_view key) {
      if (key == "stackIndex") {
        made.stack = count();
      } else if (key == "values") {
        reader_.numbers([&](const auto& number) { made.values.push_back(number ? number->rounded() : 0); });
      } else if (key == "attributeIndices") {
        counts(made.attributes);
      } else if (key == "timestampsUnixNano") {
        counts(made.times);
      }
    });
    return made;
  }

  void dictionary() {
    Dictionary& made = data_.dictionary;
    members([&](std::string_view key) {
      if (key == "stringTable") {
        elements([&] { made.strings.push_back(text()); });
      } else if (key == "mappingTable") {
        elements([&] { made.mappings.push_back(mapping()); });
      } else if (key == "locationTable") {
        elements([&] { made.locations.push_back(location()); });
      } else if (key == "functionTable") {
        elements([&] { made.functions.push_back(function()); });
      } else if (key == "attributeTable") {
        elements([&] { made.attributes.push_back(attribute()); });
      } else if (key == "stackTable") {
        elements([&] { made.stacks.push_back(stack()); });
      }
    });
  }

  Mapping mapping() {
    Mapping made;
    members([&](std::string_view key) {
      if (key == "filenameStrindex") made.file = count();
    });
    return made;
  }

  Location location() {
    Location made;
    members([&](std::string_view key) {
      if (key == "mappingIndex") {
        made.mapping = count();
      } else if (key == "lines" || key == "line") {
        elements([&] { made.lines.push_back(line()); });
      } else if (key == "attributeIndices") {
        counts(made.attributes);
      }
    });
    return made;
  }

  Line line() {
    Line made;
    members([&](std::string_view key) {
      if (key == "functionIndex") {
        made.function = count();
      } else if (key == "line") {
        made.line = count();
      } else if (key == "column") {
        made.column = count();
      }
    });
    return made;
  }

  Function function() {
    Function made;
    members([&](std::string_view key) {
      if (key == "nameStrindex") {
        made.name = count();
      } else if (key == "systemNameStrindex") {
        made.system_name = count();
      } else if (key == "filenameStrindex") {
        made.file = count();
      } else if (key == "startLine") {
        made.start_line = count();
      }
    });
    return made;
  }

  std::vector<std::uint64_t> stack() {
    std::vector<std::uint64_t> locations;
    members([&](std::string_view key) {
      if (key == "locationIndices") counts(locations);
    });
    return locations;
  }

  Attribute attribute() {
    Attribute made;
    members([&](std::string_view key) {
      if (key == "keyStrindex") {
        made.key = count();
      } else if (key == "key") {
        made.name = text();
      } else if (key == "value") {
        members([&](std::string_view type) {
          if (type == "stringValue" || type == "intValue") made.value = text();
        });
      }
    });
    return made;
  }

  json::Reader& reader_;
  Data data_;
};

}  // namespace

Data parse_json(json::Reader& reader) {
  return Parser(reader).parse();
}

}  // namespace nodescope::otlp
