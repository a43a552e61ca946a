#include "v8/scripts.h"

#include <fmt/format.h>

#include <algorithm>

#include "v8/objects.h"
#include "v8/positions.h"

namespace nodescope::v8 {

namespace {

// Map, source, name, line and column offset.
constexpr std::size_t kIdentityBytes = 40;

constexpr std::size_t kMaxSourceUnits = std::size_t{64} << 20;

// The name and the text of a new script are young: a collector may move them between two reads.
constexpr int kMaxAttempts = 8;
constexpr std::size_t kMaxUnread = 4096;

constexpr int kMaxEvalsWithinEvals = 8;

bool is_line_end(const FlatString& source, std::size_t index) {
  switch (source[index]) {
    case u'\n':
    case u'\u2028':
    case u'\u2029':
      return true;
    case u'\r':
      return index + 1 == source.size() || source[index + 1] != u'\n';
    default:
      return false;
  }
}

std::int32_t smi_or_zero(std::optional<TaggedWord> word) {
  return word && word->is_smi() ? word->smi() : 0;
}

std::optional<TaggedWord> moved_field(Heap& heap, TaggedWord object, const Fact& offset) {
  const auto word = heap.field(object, offset);
  return word ? std::optional(heap.moved(*word)) : std::nullopt;
}

// Where in its caller's script the text was made into code: an offset, or negative a place in the bytecode.
std::int32_t eval_offset(Heap& heap, TaggedWord script, const SharedFunctionInfo& caller) {
  const Layout& layout = heap.layout();
  const auto packed = heap.field(script, layout.script_eval_from.value + 8);
  if (!packed || !packed->is_smi() || !layout.is_known_version()) return -1;
  if (packed->smi() >= 0) return packed->smi();
  const auto bytecode = caller.bytecode() ? BytecodeArray::load(heap, *caller.bytecode()) : std::nullopt;
  if (!bytecode) return -1;
  const auto position =
      find_position(bytecode->positions(), -std::int64_t{packed->smi()}, position_encoding(layout.version));
  return position && !position->is_external() ? position->offset() : -1;
}

}  // namespace

std::optional<ScriptId> Scripts::load(Heap& heap, TaggedWord word) {
  if (!word.is_object()) return std::nullopt;
  const ScriptId* id =
      ids_.find(heap.memory(), word.address(), kIdentityBytes, [&] { return read(heap, word); });
  return id == nullptr ? std::nullopt : std::optional(*id);
}

std::optional<ScriptId> Scripts::load_module(Heap& heap, TaggedWord word) {
  const auto id = load(heap, word);
  if (id) scripts_[id->index()].is_module = true;
  return id;
}

std::optional<ScriptId> Scripts::read(Heap& heap, TaggedWord word) {
  const Layout& layout = heap.layout();
  if (!heap.is(word, layout.type_script)) return std::nullopt;
  Script script;
  bool whole = true;
  if (const auto name = moved_field(heap, word, layout.script_name)) {
    script.name = load_name(heap, *name).value_or("");
    whole = heap.type(*name) >= 0;
  }
  // "//# sourceURL=" in the text, which counts more, as in V8's own stacks.
  const auto url =
      layout.is_known_version() ? moved_field(heap, word, layout.script_source_url) : std::nullopt;
  if (url && heap.is_string(*url)) {
    if (auto name = load_name(heap, *url); name && !name->empty()) script.name = std::move(*name);
  }
  if (const auto from = heap.field(word, layout.script_eval_from))
    script.is_eval = heap.is(*from, layout.type_shared);
  if (layout.is_known_version()) {
    script.line_offset = smi_or_zero(heap.field(word, layout.script_line_offset));
    script.column_offset = smi_or_zero(heap.field(word, layout.script_line_offset.value + 8));
    if (const auto source = moved_field(heap, word, layout.script_source)) {
      script.source = load_string(heap, *source, kMaxSourceUnits);
      whole = whole && (heap.is_string(*source) || heap.is(*source, layout.type_oddball));
    }
  }
  if (attempts_.size() > kMaxUnread) attempts_.clear();
  if (!whole && ++attempts_[word.value] < kMaxAttempts) return std::nullopt;
  attempts_.erase(word.value);
  if (script.source) script.length = script.source->size();
  if (script.is_eval && script.name.empty() && evals_within_evals_ < kMaxEvalsWithinEvals) {
    ++evals_within_evals_;
    script.origin = derive_origin(heap, word);
    --evals_within_evals_;
  }
  const ScriptId id{scripts_.size()};
  scripts_.push_back(std::move(script));
  return id;
}

// FormatEvalOrigin() in src/objects/call-site-info.cc.
std::string Scripts::derive_origin(Heap& heap, TaggedWord word) {
  const auto from = heap.field(word, heap.layout().script_eval_from);
  const auto caller = from ? SharedFunctionInfo::load(heap, *from) : std::nullopt;
  if (!caller) return {};
  const std::string& name = caller->name().empty() ? caller->inferred_name() : caller->name();
  std::string text = "eval at " + (name.empty() ? std::string("<anonymous>") : name);
  const auto id = caller->script() ? load(heap, *caller->script()) : std::nullopt;
  if (!id) return text;
  const Script& script = scripts_[id->index()];
  if (!script.origin.empty()) return fmt::format("{} ({})", text, script.origin);
  if (script.name.empty()) return text + " (unknown source)";
  const auto at = place(*id, eval_offset(heap, word, *caller));
  return at ? fmt::format("{} ({}:{}:{})", text, script.name, at->line, at->column)
            : fmt::format("{} ({})", text, script.name);
}

std::vector<std::uint32_t> Scripts::derive_line_begins(const FlatString& source) {
  std::vector<std::uint32_t> begins{0};
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (is_line_end(source, i)) begins.push_back(static_cast<std::uint32_t>(i + 1));
  }
  return begins;
}

std::optional<LineColumn> Scripts::place(ScriptId id, std::int32_t offset) {
  Script& script = scripts_[id.index()];
  if (script.is_module)
    return offset < 0 ? std::nullopt : std::optional(LineColumn{1, static_cast<std::uint32_t>(offset) + 1});
  if (script.source) {
    script.line_begins = derive_line_begins(*script.source);
    script.source.reset();
  }
  if (script.line_begins.empty() || offset < 0 || static_cast<std::size_t>(offset) > script.length)
    return std::nullopt;
  const auto position = static_cast<std::uint32_t>(offset);
  const auto next = std::ranges::upper_bound(script.line_begins, position);
  const auto index = static_cast<std::int64_t>(next - script.line_begins.begin()) - 1;
  const std::int64_t line = index + script.line_offset + 1;
  std::int64_t column = std::int64_t{position} - *std::prev(next) + 1;
  if (index == 0) column += script.column_offset;
  if (line < 1 || column < 1) return std::nullopt;
  return LineColumn{static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(column)};
}

}  // namespace nodescope::v8
