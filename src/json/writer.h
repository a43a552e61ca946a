#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope::json {

// Writes one JSON text in blocks.  Commas are its own business; that keys and values alternate is the
// caller's. Text is untrusted: what it is made of, the result is valid UTF-8 and valid JSON.  The first
// failure of the sink is kept; finish() returns it.
class Writer {
 public:
  explicit Writer(ByteSink& sink);

  Writer& begin_object() { return open('{'); }
  Writer& end_object() { return close('}'); }
  Writer& begin_array() { return open('['); }
  Writer& end_array() { return close(']'); }

  // `name` is ours: plain ASCII without anything to escape.
  Writer& key(std::string_view name);
  Writer& untrusted_key(std::string_view name);

  Writer& string(std::string_view text);
  Writer& integer(std::int64_t value);
  Writer& count(std::uint64_t value);
  // value / 10^decimals, exactly: decimal(1500, 3) writes 1.5.
  Writer& decimal(std::int64_t value, unsigned decimals);
  // The shortest text that reads as `value`; null where it is no number.
  Writer& number(double value);
  Writer& boolean(bool value) { return word(value ? "true" : "false"); }
  Writer& null() { return word("null"); }

  // A line break, where a person who opens the file wants one.
  Writer& line();

  Result<void> finish();

 private:
  Writer& open(char bracket);
  Writer& close(char bracket);
  Writer& word(std::string_view text);
  void separate();
  void end_value();
  void escape(std::string_view text);
  void flush();

  ByteSink& sink_;
  std::string block_;
  bool comma_ = false;  // the next value or key is not the first one
  Result<void> result_;
};

}  // namespace nodescope::json
