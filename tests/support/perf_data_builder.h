#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope::testing {

// Little-endian bytes, piece by piece.
class Bytes {
 public:
  template <typename T>
  Bytes& put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Bytes& words(std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) put(value);
    return *this;
  }
  Bytes& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  // Text with at least one NUL, up to a multiple of 8 bytes.
  Bytes& padded(std::string_view text) {
    text_ += text;
    do text_ += '\0';
    while (text_.size() % 8 != 0);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Writes perf.data files as perf_event.h and perf.data-file-format.txt describe them, whole or damaged.
class PerfDataBuilder {
 public:
  struct Attribute {
    std::uint32_t type = 1;
    std::uint64_t config = 0;  // cpu-clock
    std::uint64_t period = 1000;
    std::uint64_t sample_type = 0;
    std::uint64_t read_format = 0;
    std::uint64_t flags = 1 << 18;  // sample_id_all
    std::uint64_t branch_sample_type = 0;
    std::uint64_t user_registers = 0;
    std::int32_t clock_id = 0;
    std::vector<std::uint64_t> ids = {};
  };

  PerfDataBuilder& attribute(const Attribute& attribute) {
    attributes_.push_back(attribute);
    return *this;
  }
  PerfDataBuilder& record(std::uint32_t type, std::uint16_t misc, const Bytes& body) {
    records_ += make_record(type, misc, body);
    return *this;
  }
  PerfDataBuilder& raw_records(std::string_view bytes) {
    records_ += bytes;
    return *this;
  }
  // In the order of their numbers.
  PerfDataBuilder& feature(unsigned number, std::string content) {
    features_.push_back({number, std::move(content)});
    return *this;
  }

  static std::string make_record(std::uint32_t type, std::uint16_t misc, const Bytes& body) {
    Bytes record;
    record.put(type).put(misc).put(static_cast<std::uint16_t>(body.text().size() + 8)).raw(body.text());
    return record.text();
  }

  static std::string make_attribute(const Attribute& attribute) {
    Bytes bytes;
    bytes.put(attribute.type).put(std::uint32_t{128});
    bytes.words(
        {attribute.config, attribute.period, attribute.sample_type, attribute.read_format, attribute.flags});
    bytes.words({0, 0, 0, attribute.branch_sample_type, attribute.user_registers});
    bytes.put(std::uint32_t{0}).put(attribute.clock_id);
    bytes.words({0, 0, 0, 0});
    return bytes.text();
  }

  std::string records() const { return records_; }

  std::string pipe() const {
    Bytes file;
    file.raw("PERFILE2").put(std::uint64_t{16});
    for (const Attribute& attribute : attributes_) {
      Bytes body;
      body.raw(make_attribute(attribute));
      for (const std::uint64_t id : attribute.ids) body.put(id);
      file.raw(make_record(64, 0, body));
    }
    for (const Feature& feature : features_) {
      file.raw(make_record(80, 0, Bytes().put(std::uint64_t{feature.number}).raw(feature.content)));
    }
    return file.raw(records_).text();
  }

  // With `data_size` instead of the true size of the records.
  std::string file(std::uint64_t data_size) const {
    constexpr std::uint64_t kHeaderBytes = 104;
    constexpr std::uint64_t kEntryBytes = 128 + 16;
    std::string ids;
    Bytes entries;
    std::uint64_t bits = 0;
    for (const Feature& feature : features_) bits |= std::uint64_t{1} << feature.number;
    const std::uint64_t attributes_offset = kHeaderBytes;
    const std::uint64_t ids_offset = attributes_offset + attributes_.size() * kEntryBytes;
    for (const Attribute& attribute : attributes_) {
      entries.raw(make_attribute(attribute)).words({ids_offset + ids.size(), attribute.ids.size() * 8});
      for (const std::uint64_t id : attribute.ids) ids.append(reinterpret_cast<const char*>(&id), 8);
    }
    const std::uint64_t data_offset = ids_offset + ids.size();
    Bytes file;
    file.raw("PERFILE2")
        .words({kHeaderBytes, kEntryBytes, attributes_offset, attributes_.size() * kEntryBytes});
    file.words({data_offset, data_size, 0, 0, bits, 0, 0, 0}).raw(entries.text()).raw(ids).raw(records_);
    std::uint64_t content_offset = data_offset + records_.size() + features_.size() * 16;
    for (const Feature& feature : features_) {
      file.words({content_offset, feature.content.size()});
      content_offset += feature.content.size();
    }
    for (const Feature& feature : features_) file.raw(feature.content);
    return file.text();
  }
  std::string file() const { return file(records_.size()); }

 private:
  struct Feature {
    unsigned number;
    std::string content;
  };

  std::vector<Attribute> attributes_;
  std::vector<Feature> features_;
  std::string records_;
};

}  // namespace nodescope::testing
