#include "source_maps/source_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>
#include <utility>

#include "base/byte_source.h"
#include "json/reader.h"
#include "source_maps/map_location.h"
#include "source_maps/mappings.h"

namespace nodescope {

namespace {

// Offsets are of 32 bits; a bundle of 20 MB has a map of 60 MB.
constexpr std::size_t kMaxTextBytes = 1u << 30;
constexpr std::size_t kMaxSections = 100'000;
constexpr std::size_t kMaxSources = 1'000'000;
constexpr std::size_t kMaxNames = 20'000'000;
constexpr std::size_t kMaxNameBytes = 64 * 1024;
constexpr std::size_t kMaxContentBytes = 16u << 20;

std::uint32_t to_place(const std::optional<json::Number>& number) {
  const std::uint64_t value = number ? number->as_count() : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

class SourceMapParser {
 public:
  SourceMapParser(std::string text, std::string name) {
    map_.text_ = std::move(text);
    map_.name_ = std::move(name);
  }

  Result<SourceMap> parse() {
    if (map_.text_.size() > kMaxTextBytes)
      return fail(ErrorCode::kUnsupported, fmt::format("{}: larger than 1 GB", map_.name_));
    // ")]}'" may come first: it keeps browsers from running the map.
    begin_ = std::min(map_.text_.find('{'), map_.text_.size());
    MemorySource source(std::string_view(map_.text_).substr(begin_), map_.name_);
    json::Reader json(source);
    json_ = &json;
    read_map(true);
    if (json.failed())
      return fail(ErrorCode::kInvalidInput, fmt::format("{}: {}", map_.name_, json.error()->message));
    if (!has_mappings_) return fail(ErrorCode::kInvalidInput, fmt::format("{}: has no mappings", map_.name_));
    if (version_ != kVersion)
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: version {}, and only 3 is known", map_.name_, version_));
    std::ranges::stable_sort(map_.sections_, {}, &SourceMap::Section::begin);
    return std::move(map_);
  }

 private:
  static constexpr std::uint32_t kVersion = 3;

  std::uint32_t offset() const { return static_cast<std::uint32_t>(begin_ + json_->offset()); }

  // Of the next value, a text, which is skipped.
  std::uint32_t skip_text() {
    const bool is_text = json_->peek() == json::Type::kString;
    const std::uint32_t at = is_text ? offset() : SourceMap::kAbsent;
    json_->skip();
    return at;
  }

  std::vector<std::uint32_t> read_texts(std::size_t limit) {
    std::vector<std::uint32_t> offsets;
    auto elements = json_->array();
    while (elements.next()) {
      if (offsets.size() < limit) offsets.push_back(skip_text());
    }
    return offsets;
  }

  std::vector<std::uint32_t> read_numbers() {
    std::vector<std::uint32_t> numbers;
    json_->numbers([&](const auto& number) {
      if (numbers.size() < kMaxSources) numbers.push_back(to_place(number));
    });
    return numbers;
  }

  // Of the next value; empty where it has anything but digits of mappings.
  std::pair<std::uint32_t, std::uint32_t> read_mappings() {
    const std::uint32_t at = skip_text();
    if (at == SourceMap::kAbsent) return {0, 0};
    has_mappings_ = true;
    const std::string_view text = std::string_view(map_.text_).substr(at + 1);
    return {at + 1, static_cast<std::uint32_t>(text.substr(0, text.find('"')).size())};
  }

  void read_sections() {
    auto sections = json_->array();
    while (sections.next()) {
      TextPlace begin{1, 1};
      const std::size_t before = map_.sections_.size();
      auto members = json_->object();
      while (const auto key = members.next()) {
        if (*key == "offset") {
          begin = read_offset();
        } else if (*key == "map" && map_.sections_.size() < kMaxSections) {
          read_map(false);
        }
      }
      if (map_.sections_.size() > before) map_.sections_.back().begin = begin;
    }
  }

  TextPlace read_offset() {
    TextPlace begin{1, 1};
    auto members = json_->object();
    while (const auto key = members.next()) {
      if (*key == "line") {
        begin.line = to_place(json_->number()) + 1;
      } else if (*key == "column") {
        begin.column = to_place(json_->number()) + 1;
      }
    }
    return begin;
  }

  // Sections of sections do not exist.
  void read_map(bool is_outer) {
    SourceMap::Section section;
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> contents;
    std::vector<std::uint32_t> names;
    std::vector<std::uint32_t> ignored;
    std::uint32_t root = SourceMap::kAbsent;
    bool has_own_mappings = false;
    auto members = json_->object();
    while (const auto key = members.next()) {
      if (*key == "version") {
        version_ = to_place(json_->number());
      } else if (*key == "sourceRoot") {
        root = skip_text();
      } else if (*key == "sources") {
        sources = read_texts(kMaxSources - map_.sources_.size());
      } else if (*key == "sourcesContent") {
        contents = read_texts(kMaxSources);
      } else if (*key == "names") {
        names = read_texts(kMaxNames - map_.names_.size());
      } else if (*key == "mappings") {
        std::tie(section.mappings, section.mappings_size) = read_mappings();
        has_own_mappings = true;
      } else if (*key == "ignoreList" || *key == "x_google_ignoreList") {
        ignored = read_numbers();
      } else if (*key == "debugId" || *key == "debug_id") {
        if (json_->peek() == json::Type::kString) map_.debug_id_ = json_->string().value_or("");
      } else if (*key == "sections" && is_outer) {
        read_sections();
      }
    }
    if (has_own_mappings) add_section(section, sources, contents, names, ignored, root);
  }

  void add_section(SourceMap::Section section, const std::vector<std::uint32_t>& sources,
                   const std::vector<std::uint32_t>& contents, const std::vector<std::uint32_t>& names,
                   const std::vector<std::uint32_t>& ignored, std::uint32_t root) {
    section.first_source = static_cast<std::uint32_t>(map_.sources_.size());
    section.source_count = static_cast<std::uint32_t>(sources.size());
    section.first_name = static_cast<std::uint32_t>(map_.names_.size());
    section.name_count = static_cast<std::uint32_t>(names.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::uint32_t content = i < contents.size() ? contents[i] : SourceMap::kAbsent;
      map_.sources_.push_back({sources[i], content, root, false});
    }
    for (const std::uint32_t index : ignored) {
      if (index < sources.size()) map_.sources_[section.first_source + index].ignored = true;
    }
    map_.names_.insert(map_.names_.end(), names.begin(), names.end());
    map_.sections_.push_back(section);
  }

  SourceMap map_;
  std::size_t begin_ = 0;
  json::Reader* json_ = nullptr;
  std::uint32_t version_ = kVersion;
  bool has_mappings_ = false;
};

Result<SourceMap> SourceMap::parse(std::string text, std::string name) {
  return SourceMapParser(std::move(text), std::move(name)).parse();
}

namespace {

// The answers to ascending questions, from segments that come in the order of the generated text.
class Lookup {
 public:
  explicit Lookup(std::span<const TextPlace> places) : places_(places), found_(places.size()) {}

  // Null: what begins here comes from no source.
  void pass(TextPlace begin, const MappedPlace* segment) {
    while (next_ < places_.size() && places_[next_] < begin) answer();
    current_line_ = begin.line;
    covers_ = segment != nullptr;
    if (segment != nullptr) last_ = *segment;
  }

  bool is_done() const { return next_ == places_.size(); }

  std::vector<std::optional<MappedPlace>> take() {
    while (!is_done()) answer();
    return std::move(found_);
  }

 private:
  // A segment reaches to the end of its line and not beyond.
  void answer() {
    found_[next_] = last_;
    if (last_) found_[next_]->covers = covers_ && places_[next_].line == current_line_;
    ++next_;
  }

  std::span<const TextPlace> places_;
  std::vector<std::optional<MappedPlace>> found_;
  std::size_t next_ = 0;
  std::uint32_t current_line_ = 0;
  bool covers_ = false;
  std::optional<MappedPlace> last_;
};

}  // namespace

// Calls visit(begin, MappedPlace or null) for each segment, until it returns false.
template <typename Visit>
void SourceMap::visit_segments(Visit&& visit) const {
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Section& section = sections_[i];
    const TextPlace end = i + 1 < sections_.size() ? sections_[i + 1].begin
                                                   : TextPlace{std::numeric_limits<std::uint32_t>::max(), 1};
    // Nothing of the section before reaches into this one.
    if (i > 0 && !visit(section.begin, nullptr)) return;
    MappingsReader reader(std::string_view(text_).substr(section.mappings, section.mappings_size));
    while (const MappingsReader::Segment* segment = reader.next()) {
      TextPlace begin{section.begin.line + segment->line, segment->column + 1};
      if (segment->line == 0) begin.column += section.begin.column - 1;
      if (begin >= end) break;
      if (begin.line == 1) begin.column += first_line_shift_;
      const bool is_known = segment->has_source && segment->source < section.source_count;
      if (!is_known) {
        if (!visit(begin, nullptr)) return;
        continue;
      }
      MappedPlace place;
      place.generated = begin;
      place.original = {static_cast<std::uint32_t>(segment->original_line) + 1,
                        static_cast<std::uint32_t>(segment->original_column) + 1};
      place.source = section.first_source + static_cast<std::uint32_t>(segment->source);
      if (segment->has_name && segment->name < section.name_count)
        place.name = section.first_name + static_cast<std::uint32_t>(segment->name);
      if (!visit(begin, &place)) return;
    }
  }
}

std::vector<std::optional<MappedPlace>> SourceMap::find(std::span<const TextPlace> places) const {
  Lookup lookup(places);
  TextPlace last;
  bool ascends = true;
  visit_segments([&](TextPlace begin, const MappedPlace* place) {
    ascends = ascends && last <= begin;
    last = begin;
    lookup.pass(begin, place);
    return ascends && !lookup.is_done();
  });
  // Generators write segments in order; where one did not, nothing is sure.
  if (!ascends) return std::vector<std::optional<MappedPlace>>(places.size());
  return lookup.take();
}

bool SourceMap::fits(std::span<const std::uint32_t> line_lengths) const {
  bool fits = true;
  visit_segments([&](TextPlace begin, const MappedPlace* place) {
    fits = begin.line <= line_lengths.size() && begin.column <= line_lengths[begin.line - 1] + 1;
    // What follows the last line may be said to come from nowhere.
    if (place == nullptr) fits = true;
    return fits;
  });
  return fits;
}

std::vector<MappedPlace> SourceMap::spread_of_segments(std::size_t count) const {
  constexpr std::size_t kBytesOfSegment = 5;
  std::size_t bytes = 0;
  for (const Section& section : sections_) bytes += section.mappings_size;
  const std::size_t step =
      std::max<std::size_t>(1, bytes / kBytesOfSegment / std::max<std::size_t>(1, count));
  std::vector<MappedPlace> spread;
  std::size_t seen = 0;
  visit_segments([&](TextPlace, const MappedPlace* place) {
    if (place != nullptr && seen++ % step == 0) spread.push_back(*place);
    return spread.size() < 2 * count;
  });
  return spread;
}

std::optional<std::string> SourceMap::text_at(std::uint32_t offset, std::size_t limit) const {
  if (offset == kAbsent) return std::nullopt;
  // Escapes take up to six bytes for one.
  MemorySource source(std::string_view(text_).substr(offset, 6 * limit), name_);
  json::Reader json(source);
  const auto text = json.string();
  if (!text || text->size() > limit) return std::nullopt;
  return std::string(*text);
}

std::string SourceMap::source(std::uint32_t index) const {
  const Source& source = sources_[index];
  return shown_source(name_, text_at(source.root, kMaxNameBytes).value_or(""),
                      text_at(source.name, kMaxNameBytes).value_or(""));
}

std::optional<std::string> SourceMap::source_file(std::uint32_t index) const {
  const Source& source = sources_[index];
  return file_of_source(name_, text_at(source.root, kMaxNameBytes).value_or(""),
                        text_at(source.name, kMaxNameBytes).value_or(""));
}

std::optional<std::string> SourceMap::content(std::uint32_t index) const {
  return text_at(sources_[index].content, kMaxContentBytes);
}

std::string SourceMap::symbol(std::uint32_t name) const {
  return text_at(names_[name], kMaxNameBytes).value_or("");
}

bool SourceMap::is_ignored(std::uint32_t source) const {
  return sources_[source].ignored;
}

std::size_t SourceMap::memory_bytes() const {
  return text_.capacity() + sources_.capacity() * sizeof(Source) + names_.capacity() * sizeof(std::uint32_t) +
         sections_.capacity() * sizeof(Section);
}

}  // namespace nodescope
