#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nodescope::otlp {

// The messages of v1development, with indices into the tables of the dictionary.

struct ValueType {
  std::uint64_t type = 0;
  std::uint64_t unit = 0;
};

// A key with its value as text.
struct Attribute {
  std::uint64_t key = 0;  // in the dictionary
  std::string name;       // of a resource, where keys are texts
  std::string value;
};

struct Mapping {
  std::uint64_t file = 0;
};

struct Line {
  std::uint64_t function = 0;
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

struct Location {
  std::uint64_t mapping = 0;
  std::vector<Line> lines;  // the last one is the function into which those before were inlined
  std::vector<std::uint64_t> attributes;
};

struct Function {
  std::uint64_t name = 0;
  std::uint64_t system_name = 0;
  std::uint64_t file = 0;
  std::uint64_t start_line = 0;
};

struct Dictionary {
  std::vector<std::string> strings;
  std::vector<Mapping> mappings;
  std::vector<Location> locations;
  std::vector<Function> functions;
  std::vector<Attribute> attributes;
  std::vector<std::vector<std::uint64_t>> stacks;  // locations, innermost first
};

struct Sample {
  std::uint64_t stack = 0;
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> attributes;
  std::vector<std::uint64_t> times;
};

struct ProfileData {
  ValueType sample_type;
  ValueType period_type;
  std::int64_t period = 0;
  std::uint64_t time = 0;
  std::vector<Sample> samples;
  std::vector<std::uint64_t> attributes;
  std::size_t resource = 0;
};

struct Data {
  Dictionary dictionary;
  std::vector<std::vector<Attribute>> resources;
  std::vector<ProfileData> profiles;
};

}  // namespace nodescope::otlp
