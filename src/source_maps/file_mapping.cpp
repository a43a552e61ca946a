#include "source_maps/file_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <utility>

#include "source_maps/generated_head.h"
#include "source_maps/text_places.h"

namespace nodescope {

namespace {

constexpr TextPlace kTopLevel{1, 1};
// Larger sources are bundles themselves.
constexpr std::size_t kMaxSourceBytes = 16u << 20;

template <typename T>
void sort_distinct(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

// What is known of one place of the generated file.
struct Known {
  std::optional<MappedPlace> mapped;
  std::optional<MappedPlace> before;  // what precedes it, if it comes from no source
  std::optional<std::size_t> offset;  // in the generated text
  std::optional<std::size_t> segment_offset;
  bool said_to_begin = false;    // the profile says that a function begins here
  bool begins_function = false;  // it says so, or the text does
  std::optional<GeneratedHead> head;
  // Of the function that begins here, from its source.
  std::string name;
  Naming naming = Naming::kUnknown;
  TextPlace function;  // its canonical place; else that of the segment
};

class Mapper {
 public:
  Mapper(const SourceMap& map, const std::string* text, std::span<const GeneratedPlace> wanted,
         const ReadOriginal& read_original)
      : map_(map), text_(text), wanted_(wanted), read_original_(read_original) {}

  FileMapping run() {
    FileMapping result;
    result.places.resize(wanted_.size());
    look_up();
    result.problem = text_problem();
    if (!result.problem.empty()) return result;
    name_functions();
    result.problem = agreement_problem();
    if (!result.problem.empty()) return result;
    for (std::size_t i = 0; i < wanted_.size(); ++i) result.places[i] = lead(wanted_[i]);
    return result;
  }

 private:
  std::string_view text() const { return *text_; }

  // Many formats have one place for a frame.
  static bool is_begin_only(const GeneratedPlace& wanted) { return wanted.function.line == 0; }

  Known* find(TextPlace place) {
    const auto found = std::ranges::lower_bound(places_, place);
    if (found == places_.end() || *found != place) return nullptr;
    return &known_[static_cast<std::size_t>(found - places_.begin())];
  }

  void look_up() {
    for (const GeneratedPlace& wanted : wanted_) {
      if (wanted.place.column != 0) places_.push_back(wanted.place);
      if (wanted.function.column != 0) places_.push_back(wanted.function);
    }
    sort_distinct(places_);
    known_.resize(places_.size());
    auto found = map_.find(places_);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (found[i]) (found[i]->covers ? known_[i].mapped : known_[i].before) = found[i];
    }
    if (text_ != nullptr) find_offsets();
    for (const GeneratedPlace& wanted : wanted_) mark_begin(wanted);
  }

  void find_offsets() {
    std::vector<TextPlace> both = places_;
    for (const Known& known : known_) {
      if (known.mapped) both.push_back(known.mapped->generated);
    }
    sort_distinct(both);
    const auto offsets = offsets_of(text(), both);
    const auto offset_of = [&](TextPlace place) {
      return offsets[static_cast<std::size_t>(std::ranges::lower_bound(both, place) - both.begin())];
    };
    for (std::size_t i = 0; i < places_.size(); ++i) {
      known_[i].offset = offset_of(places_[i]);
      if (known_[i].mapped) known_[i].segment_offset = offset_of(known_[i].mapped->generated);
    }
  }

  void mark_begin(const GeneratedPlace& wanted) {
    Known* known = find(is_begin_only(wanted) ? wanted.place : wanted.function);
    if (known == nullptr) return;
    if (known->offset && !known->head) known->head = head_at(text(), *known->offset);
    if (wanted.is_begin || !is_begin_only(wanted)) known->said_to_begin = true;
    known->begins_function = known->said_to_begin || known->head.has_value();
  }

  // Why the text is not that from which the places came, or not that to which the map belongs.
  std::string text_problem() {
    if (text_ == nullptr) return {};
    std::size_t beyond = 0;
    std::size_t begins = 0;
    std::size_t heads = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!known_[i].offset) ++beyond;
      if (!known_[i].said_to_begin || places_[i] == kTopLevel) continue;
      ++begins;
      if (known_[i].head) ++heads;
    }
    if (beyond > 0)
      return fmt::format("the file has changed: {} places of the profile are beyond its text", beyond);
    if (begins >= 2 && 2 * heads < begins)
      return fmt::format("the file has changed: no function begins at {} of {} places", begins - heads,
                         begins);
    if (!map_.fits(line_lengths(text()))) return "stale: its positions do not fit the file";
    return {};
  }

  // Sources in which functions begin, each read once.
  void name_functions() {
    std::map<std::uint32_t, std::vector<Known*>> by_source;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      Known& known = known_[i];
      if (!known.mapped) continue;
      known.function = known.mapped->original;
      if (known.begins_function && places_[i] != kTopLevel) by_source[known.mapped->source].push_back(&known);
    }
    if (!by_source.empty()) find_spread_words();
    for (auto& [source, begins] : by_source) {
      std::optional<std::string> content;
      if (text_ != nullptr) content = content_of(source);
      if (content) name_by_source(*content, begins);
      for (Known* known : begins) name_by_map(*known);
      if (content) compare_words(source, *content);
    }
  }

  std::optional<std::string> content_of(std::uint32_t source) {
    if (auto content = map_.content(source)) return content;
    const auto path = map_.source_file(source);
    auto content = path && read_original_ ? read_original_(*path) : std::nullopt;
    if (content && content->size() > kMaxSourceBytes) return std::nullopt;
    return content;
  }

  void name_by_source(const std::string& content, std::vector<Known*>& begins) {
    std::ranges::sort(begins, {}, [](const Known* known) { return known->mapped->original; });
    std::vector<TextPlace> originals;
    for (const Known* known : begins) originals.push_back(known->mapped->original);
    const auto offsets = offsets_of(content, originals);
    const ScriptFunctions functions(content);
    std::vector<std::pair<std::size_t, Known*>> canonical;
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const auto offset = offsets[i] ? exact_offset(*begins[i], content, *offsets[i]) : std::nullopt;
      const ScriptFunction* function = offset ? functions.find(*offset) : nullptr;
      // Some maps know lines only.
      if (function == nullptr && offset && originals[i].column == 1)
        function = only_function_in_line(functions, content, *offset);
      if (function == nullptr) continue;
      begins[i]->name = function->name;
      begins[i]->naming = function->naming;
      canonical.emplace_back(function->parameters, begins[i]);
    }
    std::ranges::sort(canonical);
    std::vector<std::size_t> parameters;
    for (const auto& [at, known] : canonical) parameters.push_back(at);
    const auto places = places_of(content, parameters);
    for (std::size_t i = 0; i < places.size(); ++i) canonical[i].second->function = places[i];
  }

  static const ScriptFunction* only_function_in_line(const ScriptFunctions& functions,
                                                     const std::string& content, std::size_t line) {
    const auto& all = functions.all();
    const auto begin = std::ranges::lower_bound(all, line, {}, &ScriptFunction::begin);
    const auto end = std::ranges::lower_bound(all, content.find('\n', line), {}, &ScriptFunction::begin);
    return end - begin == 1 ? &*begin : nullptr;
  }

  // Where in the source a function begins.  Its segment must lie in its own head, or be of text that was
  // copied up to there.
  std::optional<std::size_t> exact_offset(const Known& known, std::string_view content,
                                          std::size_t original) const {
    if (!known.offset || !known.segment_offset || !known.head) return std::nullopt;
    const std::string_view between =
        text().substr(*known.segment_offset, *known.offset - *known.segment_offset);
    if (content.substr(original).starts_with(between)) return original + between.size();
    if (!is_within_head(between)) return std::nullopt;
    return original;
  }

  // A name that the map ties to the very name before the parameters.
  void name_by_map(Known& known) const {
    if (known.naming == Naming::kNamed || known.mapped->name == MappedPlace::kNoName) return;
    if (!known.head || known.head->name_size == 0 || known.segment_offset != known.head->name_begin) return;
    std::string symbol = map_.symbol(known.mapped->name);
    if (symbol.empty() || symbol == "constructor") return;
    known.name = std::move(symbol);
    known.naming = Naming::kNamed;
  }

  // Not the words that any line may have.
  static bool is_telling(std::string_view word) {
    constexpr std::size_t kMinWord = 4;
    constexpr auto kCommon = std::to_array<std::string_view>(
        {"async",  "await",  "break",   "case",  "class",    "const",  "continue", "default",
         "else",   "export", "exports", "false", "function", "import", "null",     "require",
         "return", "static", "this",    "throw", "true",     "typeof", "void",     "while"});
    return word.size() >= kMinWord && std::ranges::find(kCommon, word) == kCommon.end();
  }

  struct SpreadWord {
    std::uint32_t source = 0;
    TextPlace original;
    std::string_view word;  // of the generated text
  };

  // From all over the map.
  void find_spread_words() {
    if (!spread_.empty() || text_ == nullptr) return;
    const auto segments = map_.spread_of_segments(kSpread);
    std::vector<TextPlace> generated;
    for (const MappedPlace& segment : segments) generated.push_back(segment.generated);
    const auto offsets = offsets_of(text(), generated);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const std::string_view word = offsets[i] ? word_at(text(), *offsets[i]) : std::string_view();
      if (is_telling(word)) spread_.push_back({segments[i].source, segments[i].original, word});
    }
    std::ranges::sort(spread_, {},
                      [](const SpreadWord& word) { return std::pair(word.source, word.original); });
  }

  // Words that a generator had no reason to change tell whether text, map and source belong together.
  void compare_words(std::uint32_t source, const std::string& content) {
    const auto words = std::ranges::equal_range(spread_, source, {}, &SpreadWord::source);
    std::vector<TextPlace> originals;
    for (const SpreadWord& word : words) originals.push_back(word.original);
    const auto offsets = offsets_of(content, originals);
    for (std::size_t i = 0; i < originals.size(); ++i) {
      ++compared_words_;
      // Some maps know lines only.
      const std::string_view rest = std::string_view(content).substr(offsets[i].value_or(content.size()));
      if (rest.substr(0, rest.find('\n')).contains(words[static_cast<std::ptrdiff_t>(i)].word))
        ++equal_words_;
    }
  }

  std::string agreement_problem() const {
    constexpr std::size_t kEnough = 20;
    if (compared_words_ < kEnough || equal_words_ * 5 >= compared_words_) return {};
    return fmt::format("stale: {} of {} words that it compares are not those of its sources",
                       compared_words_ - equal_words_, compared_words_);
  }

  std::optional<OriginalPlace> lead(const GeneratedPlace& wanted) {
    if (is_begin_only(wanted)) {
      const Known* known = find(wanted.place);
      if (known == nullptr || !known->mapped) return std::nullopt;
      const bool is_top_level = wanted.place == kTopLevel;
      // The code of all modules of a bundle is one function.
      if (is_top_level && map_.source_count() != 1) return std::nullopt;
      return begin_place(*known, is_top_level);
    }
    const Known* place = find(wanted.place);
    const Known* begin = find(wanted.function);
    const bool has_begin = begin != nullptr && begin->mapped;
    if (place == nullptr || !place->mapped) {
      if (wanted.function == kTopLevel || (!has_begin && wraps_bundle(wanted.function)))
        return place == nullptr ? std::nullopt : start_of_bundle(*place);
      // The code of the generator in a function of the source.
      if (!has_begin) return std::nullopt;
      OriginalPlace original = begin_place(*begin, false);
      original.function = original.place;
      original.place = {};
      return original;
    }
    OriginalPlace original;
    original.source = place->mapped->source;
    original.place = place->mapped->original;
    if (wanted.function == kTopLevel) {
      original.is_top_level = true;
      original.function = kTopLevel;
    } else if (has_begin) {
      original.name = begin->name;
      original.naming = begin->naming;
      // What a bundler has put into a function of another file stays where it ran.
      if (begin->mapped->source == original.source) original.function = begin->function;
    }
    return original;
  }

  // "(() => {" and "!function(){" at the beginning of a file.
  static bool wraps_bundle(TextPlace function) {
    constexpr std::uint32_t kMaxColumn = 40;
    return function.line == 1 && function.column <= kMaxColumn;
  }

  // What generators leave without a source in a bundle's own code is its start, "})()", which they write
  // behind that of the last module.  Node.js says so, too.
  static std::optional<OriginalPlace> start_of_bundle(const Known& known) {
    if (!known.before) return std::nullopt;
    OriginalPlace original;
    original.source = known.before->source;
    original.place = known.before->original;
    original.function = kTopLevel;
    original.is_top_level = true;
    return original;
  }

  static OriginalPlace begin_place(const Known& known, bool is_top_level) {
    OriginalPlace original;
    original.source = known.mapped->source;
    original.place = known.begins_function ? known.function : known.mapped->original;
    original.name = known.name;
    original.naming = known.naming;
    original.is_top_level = is_top_level;
    return original;
  }

  static constexpr std::size_t kSpread = 2000;

  const SourceMap& map_;
  const std::string* text_;
  std::span<const GeneratedPlace> wanted_;
  const ReadOriginal& read_original_;
  std::vector<TextPlace> places_;   // ascending
  std::vector<Known> known_;        // beside places_
  std::vector<SpreadWord> spread_;  // by source and place
  std::size_t compared_words_ = 0;
  std::size_t equal_words_ = 0;
};

}  // namespace

FileMapping map_places(const SourceMap& map, const std::string* text, std::span<const GeneratedPlace> places,
                       const ReadOriginal& read_original) {
  return Mapper(map, text, places, read_original).run();
}

}  // namespace nodescope
