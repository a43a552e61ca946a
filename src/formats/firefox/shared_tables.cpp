#include "formats/firefox/shared_tables.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "formats/symbol_name.h"

namespace nodescope::firefox {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kAnonymous = "(anonymous)";

// Our own categories, by FrameKind's order of names in the file.
struct CategoryKind {
  std::string_view name;
  FrameKind kind;
};
constexpr std::array kOwnCategories = {
    CategoryKind{"Other", FrameKind::kUnknown},   CategoryKind{"Idle", FrameKind::kUnknown},
    CategoryKind{"JavaScript", FrameKind::kJs},   CategoryKind{"Native", FrameKind::kNative},
    CategoryKind{"Kernel", FrameKind::kKernel},   CategoryKind{"V8 builtin", FrameKind::kBuiltin},
    CategoryKind{"GC", FrameKind::kGc},           CategoryKind{"RegExp", FrameKind::kRegExp},
    CategoryKind{"WebAssembly", FrameKind::kWasm}};

FrameKind own_kind(std::string_view category) {
  const auto found = std::ranges::find(kOwnCategories, category, &CategoryKind::name);
  return found == kOwnCategories.end() ? FrameKind::kUnknown : found->kind;
}

// What a profiler calls code whose name it does not know: its address.
bool is_address(std::string_view name) {
  return name.starts_with("0x") && parse_hex(name.substr(2)).has_value();
}

}  // namespace

bool SharedTables::read_member(json::Reader& reader, std::string_view key) {
  if (key == "stringArray" || key == "stringTable") {
    auto elements = reader.array();
    while (elements.next()) texts_.emplace_back(reader.string().value_or(""));
  } else if (key == "stackTable") {
    stacks_.read(reader);
  } else if (key == "frameTable") {
    frames_.read(reader);
  } else if (key == "funcTable") {
    functions_.read(reader);
  } else if (key == "resourceTable") {
    resources_.read(reader);
  } else if (key == "sources") {
    sources_.read(reader);
  } else {
    return false;
  }
  return true;
}

std::string_view SharedTables::text(std::optional<std::size_t> index) const {
  return index && *index < texts_.size() ? std::string_view(texts_[*index]) : std::string_view();
}

const Library* SharedTables::library_of(const FileFacts& file, std::size_t function) const {
  const auto resource = functions_.index_at("resource", function, resources_.length());
  const auto library = resource ? resources_.index_at("lib", *resource, file.libraries.size()) : std::nullopt;
  return library ? &file.libraries[*library] : nullptr;
}

// A source's number since version 59, the name's before.
std::string_view SharedTables::file_of(std::size_t function) const {
  if (const auto source = functions_.index_at("source", function, sources_.length()))
    return text(sources_.index_at("filename", *source, texts_.size()));
  return text(functions_.index_at("fileName", function, texts_.size()));
}

std::string_view SharedTables::category_of(const FileFacts& file, std::size_t row) const {
  const auto category = frames_.index_at("category", row, file.categories.size());
  return category ? std::string_view(file.categories[*category]) : std::string_view();
}

Frame SharedTables::own_frame_of(Profile& profile, const FileFacts& file, std::size_t row,
                                 std::size_t function) const {
  constexpr std::uint32_t kTiers = 5;
  Frame frame;
  frame.kind = own_kind(category_of(file, row));
  const std::string_view name = text(functions_.index_at("name", function, texts_.size()));
  if (name != kAnonymous) frame.function = profile.strings.intern(name);
  frame.file = profile.strings.intern(file_of(function));
  if (const Library* library = library_of(file, function))
    frame.module = profile.strings.intern(library->path);
  const std::uint32_t tier = frames_.place_at("subcategory", row);
  if (frame.kind == FrameKind::kJs && tier < kTiers) frame.tier = static_cast<JsTier>(tier);
  frame.inlined = frames_.place_at("inlineDepth", row) != 0;
  frame.line = frames_.place_at("line", row);
  frame.column = frames_.place_at("column", row);
  frame.function_line = functions_.place_at("lineNumber", function);
  frame.function_column = functions_.place_at("columnNumber", function);
  // Where only one place of JavaScript is known, it is the function's.
  const bool is_script = frame.kind == FrameKind::kJs || frame.kind == FrameKind::kWasm;
  if (is_script && frame.line == 0) {
    frame.line = std::exchange(frame.function_line, 0);
    frame.column = std::exchange(frame.function_column, 0);
  }
  return frame;
}

Frame SharedTables::frame_of(Profile& profile, const FileFacts& file, const Sidecar& symbols,
                             std::size_t row) const {
  const auto function = frames_.index_at("func", row, functions_.length());
  if (!function) return {};
  if (file.is_ours) return own_frame_of(profile, file, row, *function);
  std::string_view name = text(functions_.index_at("name", *function, texts_.size()));
  const Library* const library = library_of(file, *function);
  const bool is_js = functions_.at("isJS", *function).value_or(0) != 0;
  if (is_address(name)) {
    const auto address = frames_.at("address", row);
    const auto symbol =
        library != nullptr && address && *address >= 0
            ? symbols.symbol(library->debug_id, library->code_id, static_cast<std::uint64_t>(*address))
            : std::nullopt;
    name = symbol.value_or(std::string_view());
  }
  Frame frame = frame_of_symbol(profile, name, library == nullptr ? std::string_view() : library->path,
                                frames_.place_at("inlineDepth", row) != 0);
  if (is_js && frame.kind == FrameKind::kNative) {
    frame.kind = FrameKind::kJs;
    if (name == kAnonymous) frame.function = {};
  }
  if (category_of(file, row) == "Kernel") frame.kind = FrameKind::kKernel;
  if (frame.file == StringId{}) frame.file = profile.strings.intern(file_of(*function));
  const std::uint32_t line = frames_.place_at("line", row);
  const std::uint32_t function_line = functions_.place_at("lineNumber", *function);
  if (function_line != 0) {
    frame.line = function_line;
    frame.column = functions_.place_at("columnNumber", *function);
  }
  if (line != 0 && line != frame.line) {
    frame.function_line = frame.line;
    frame.function_column = frame.column;
    frame.line = line;
    frame.column = frames_.place_at("column", row);
  }
  return frame;
}

void SharedTables::build(Profile& profile, const FileFacts& file, const Sidecar& symbols) {
  std::vector<FrameId> frames;
  frames.reserve(frames_.length());
  for (std::size_t i = 0; i < frames_.length(); ++i)
    frames.push_back(profile.frames.intern(frame_of(profile, file, symbols, i)));
  built_.reserve(stacks_.length());
  for (std::size_t i = 0; i < stacks_.length(); ++i) {
    const auto caller = stacks_.index_at("prefix", i, i);  // a caller comes before what it calls
    if (!caller && stacks_.at("prefix", i))
      profile.diagnostics.warn("a stack's caller does not come before it: taken as outermost");
    const auto frame = stacks_.index_at("frame", i, frames.size());
    if (!frame) profile.diagnostics.warn("a stack's frame does not exist: shown as unknown");
    const FrameId own = frame ? frames[*frame] : profile.frames.intern(Frame{});
    built_.push_back(profile.stacks.push(caller ? built_[*caller] : kEmptyStack, own));
  }
}

}  // namespace nodescope::firefox
