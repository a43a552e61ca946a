#include "formats/firefox/firefox_tables.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "base/path.h"

namespace nodescope {

namespace {

constexpr std::string_view kIdleName = "(idle)";
constexpr int kLibraryResource = 1;

struct Category {
  std::string_view name;
  std::string_view color;
};
// The first grey one is the default category.  Colors are names that the front end knows.
constexpr std::array kCategories = {
    Category{"Other", "grey"},  Category{"Idle", "transparent"}, Category{"JavaScript", "yellow"},
    Category{"Native", "blue"}, Category{"Kernel", "orange"},    Category{"V8 builtin", "purple"},
    Category{"GC", "red"},      Category{"RegExp", "magenta"},   Category{"WebAssembly", "green"},
};

// Of JavaScript: what the code was compiled by, in the order of JsTier.
constexpr std::array<std::string_view, 5> kTierNames = {"Other", "Interpreter", "Baseline", "Maglev",
                                                        "Turbofan"};

FirefoxCategory category_of(const Profile& profile, const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kUnknown:
      return profile.text(frame.function) == kIdleName ? FirefoxCategory::kIdle : FirefoxCategory::kOther;
    case FrameKind::kJs:
      return FirefoxCategory::kJs;
    case FrameKind::kNative:
      return FirefoxCategory::kNative;
    case FrameKind::kKernel:
      return FirefoxCategory::kKernel;
    case FrameKind::kBuiltin:
      return FirefoxCategory::kBuiltin;
    case FrameKind::kGc:
      return FirefoxCategory::kGc;
    case FrameKind::kRegExp:
      return FirefoxCategory::kRegExp;
    case FrameKind::kWasm:
      return FirefoxCategory::kWasm;
  }
  return FirefoxCategory::kOther;
}

// Where only one line is known, that of JavaScript is where the function begins, that of native code where it
// was.
bool line_is_of_function(const Frame& frame) {
  return frame.function_line == 0 && (frame.kind == FrameKind::kJs || frame.kind == FrameKind::kWasm);
}

Frame function_of(Frame frame) {
  if (!line_is_of_function(frame)) {
    frame.line = std::exchange(frame.function_line, 0);
    frame.column = std::exchange(frame.function_column, 0);
  }
  frame.tier = JsTier::kNone;
  frame.inlined = false;
  return frame;
}

std::uint32_t number_of(StringId text, std::vector<StringId>& texts,
                        FlatMap<std::uint64_t, std::uint32_t>& indices) {
  const auto [entry, added] = indices.try_emplace(text.value, static_cast<std::uint32_t>(texts.size()));
  if (added) texts.push_back(text);
  return entry->second;
}

template <typename WriteOne>
void write_column(json::Writer& writer, std::string_view name, std::size_t length, WriteOne&& write_one) {
  writer.line().key(name).begin_array();
  for (std::size_t i = 0; i < length; ++i) write_one(i);
  writer.end_array();
}

void write_place(json::Writer& writer, std::uint32_t line) {
  if (line == 0) {
    writer.null();
  } else {
    writer.count(line);
  }
}

}  // namespace

void write_firefox_categories(json::Writer& writer) {
  writer.key("categories").begin_array();
  for (const Category& category : kCategories) {
    writer.begin_object();
    writer.key("name").string(category.name);
    writer.key("color").string(category.color);
    writer.key("subcategories").begin_array();
    if (&category == &kCategories[static_cast<std::size_t>(FirefoxCategory::kJs)]) {
      for (const std::string_view tier : kTierNames) writer.string(tier);
    } else {
      writer.string("Other");
    }
    writer.end_array();
    writer.end_object();
  }
  writer.end_array();
}

FirefoxTables::FirefoxTables(const Profile& profile) : profile_(profile) {
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    function_of_frame_.push_back(functions_.intern(function_of(frame)));
    if (frame.module != StringId{}) number_of(frame.module, modules_, module_indices_);
    if (frame.file != StringId{}) number_of(frame.file, files_, file_indices_);
  }
}

std::uint32_t FirefoxTables::string_of(StringId text) {
  return number_of(text, strings_, string_indices_);
}

void FirefoxTables::write_libraries(json::Writer& writer) const {
  FlatMap<std::uint64_t, StringId> build_ids;
  for (const Mapping& mapping : profile_.mappings)
    build_ids.try_emplace(mapping.file.value, mapping.build_id);
  writer.line().key("libs").begin_array();
  for (const StringId module : modules_) {
    const std::string_view path = profile_.text(module);
    const auto build_id = build_ids.find(module.value);
    writer.begin_object();
    writer.key("arch").string("");
    writer.key("name").string(file_name_of(path));
    writer.key("path").string(path);
    writer.key("debugName").string(file_name_of(path));
    writer.key("debugPath").string(path);
    writer.key("breakpadId").string("");
    writer.key("codeId");
    if (build_id == build_ids.end() || build_id->second == StringId{}) {
      writer.null();
    } else {
      writer.string(profile_.text(build_id->second));
    }
    writer.end_object();
  }
  writer.end_array();
}

void FirefoxTables::write_shared(json::Writer& writer) {
  writer.line().key("shared").begin_object();
  write_stacks(writer);
  write_frames(writer);
  write_functions(writer);
  write_resources(writer);
  writer.line().key("nativeSymbols").begin_object();
  for (const std::string_view name : {"libIndex", "address", "name", "functionSize"}) {
    writer.key(name).begin_array().end_array();
  }
  writer.key("length").count(0).end_object();
  write_sources(writer);
  write_strings(writer);
  writer.end_object();
}

// Stack i of the file is our stack i + 1: the empty one is null there.
void FirefoxTables::write_stacks(json::Writer& writer) const {
  const StackTable& stacks = profile_.stacks;
  const std::size_t length = stacks.size() - 1;
  writer.line().key("stackTable").begin_object();
  write_column(writer, "frame", length,
               [&](std::size_t i) { writer.count(stacks.frame(StackId{i + 1}).value); });
  write_column(writer, "prefix", length, [&](std::size_t i) {
    const StackId caller = stacks.caller(StackId{i + 1});
    if (caller == kEmptyStack) {
      writer.null();
    } else {
      writer.count(caller.index() - 1);
    }
  });
  writer.line().key("length").count(length).end_object();
}

void FirefoxTables::write_frames(json::Writer& writer) const {
  const std::size_t length = profile_.frames.size();
  const auto frame = [&](std::size_t i) -> const Frame& { return profile_.frames[FrameId{i}]; };
  const auto line = [&](std::size_t i) { return line_is_of_function(frame(i)) ? 0 : frame(i).line; };
  const auto column = [&](std::size_t i) { return line_is_of_function(frame(i)) ? 0 : frame(i).column; };
  writer.line().key("frameTable").begin_object();
  write_column(writer, "address", length, [&](std::size_t) { writer.integer(-1); });
  write_column(writer, "inlineDepth", length, [&](std::size_t i) { writer.count(frame(i).inlined ? 1 : 0); });
  write_column(writer, "category", length, [&](std::size_t i) {
    writer.count(static_cast<std::uint64_t>(category_of(profile_, frame(i))));
  });
  write_column(writer, "subcategory", length, [&](std::size_t i) {
    writer.count(frame(i).kind == FrameKind::kJs ? static_cast<std::uint64_t>(frame(i).tier) : 0);
  });
  write_column(writer, "func", length, [&](std::size_t i) { writer.count(function_of_frame_[i].value); });
  write_column(writer, "nativeSymbol", length, [&](std::size_t) { writer.null(); });
  write_column(writer, "innerWindowID", length, [&](std::size_t) { writer.count(0); });
  write_column(writer, "line", length, [&](std::size_t i) { write_place(writer, line(i)); });
  write_column(writer, "column", length, [&](std::size_t i) { write_place(writer, column(i)); });
  writer.line().key("length").count(length).end_object();
}

void FirefoxTables::write_functions(json::Writer& writer) {
  const std::size_t length = functions_.size();
  const auto function = [&](std::size_t i) -> const Frame& { return functions_[FrameId{i}]; };
  writer.line().key("funcTable").begin_object();
  write_column(writer, "name", length, [&](std::size_t i) { writer.count(string_of(function(i).function)); });
  write_column(writer, "isJS", length,
               [&](std::size_t i) { writer.boolean(function(i).kind == FrameKind::kJs); });
  write_column(writer, "relevantForJS", length, [&](std::size_t) { writer.boolean(false); });
  write_column(writer, "resource", length, [&](std::size_t i) {
    const auto found = module_indices_.find(function(i).module.value);
    writer.integer(found == module_indices_.end() ? -1 : std::int64_t{found->second});
  });
  write_column(writer, "source", length, [&](std::size_t i) {
    const auto found = file_indices_.find(function(i).file.value);
    if (found == file_indices_.end()) {
      writer.null();
    } else {
      writer.count(found->second);
    }
  });
  write_column(writer, "lineNumber", length, [&](std::size_t i) { write_place(writer, function(i).line); });
  write_column(writer, "columnNumber", length,
               [&](std::size_t i) { write_place(writer, function(i).column); });
  writer.line().key("length").count(length).end_object();
}

void FirefoxTables::write_resources(json::Writer& writer) {
  const std::size_t length = modules_.size();
  writer.line().key("resourceTable").begin_object();
  write_column(writer, "lib", length, [&](std::size_t i) { writer.count(i); });
  write_column(writer, "name", length, [&](std::size_t i) { writer.count(string_of(modules_[i])); });
  write_column(writer, "host", length, [&](std::size_t) { writer.null(); });
  write_column(writer, "type", length, [&](std::size_t) { writer.integer(kLibraryResource); });
  writer.line().key("length").count(length).end_object();
}

void FirefoxTables::write_sources(json::Writer& writer) {
  const std::size_t length = files_.size();
  writer.line().key("sources").begin_object();
  write_column(writer, "uuid", length, [&](std::size_t) { writer.null(); });
  write_column(writer, "filename", length, [&](std::size_t i) { writer.count(string_of(files_[i])); });
  writer.line().key("length").count(length).end_object();
}

void FirefoxTables::write_strings(json::Writer& writer) const {
  write_column(writer, "stringArray", strings_.size(), [&](std::size_t i) {
    writer.string(strings_[i] == StringId{} ? "(anonymous)" : profile_.text(strings_[i]));
  });
}

}  // namespace nodescope
