#include "formats/symbol_name.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/path.h"
#include "base/text.h"

namespace nodescope {

namespace {

using std::string_view_literals::operator""sv;

// V8's code tags (its logging/code-events.h and, before 2019, log.h).  "JS" took the place of "Function" and
// "LazyCompile" in V8 11; "InterpretedFunction" was written by V8 6 to 9.
constexpr std::array kScriptTags = {"JS:"sv,     "LazyCompile:"sv, "Function:"sv, "InterpretedFunction:"sv,
                                    "Script:"sv, "Eval:"sv};

// Tags of V8's own code whose text means little without the tag.  The inline caches and the Call… and
// KeyedCall… states were written up to V8 5.
constexpr std::array kBuiltinTags = {"BytecodeHandler:"sv, "Handler:"sv, "Stub:"sv, "Callback:"sv};
constexpr std::array kOldBuiltinTagEnds = {"IC"sv,         "DebugBreak"sv,  "DebugPrepareStepIn"sv,
                                           "Initialize"sv, "Generic"sv,     "Normal"sv,
                                           "Miss"sv,       "Megamorphic"sv, "PreMonomorphic"sv};
constexpr std::array kOldBuiltinTagStarts = {"Load"sv,   "Store"sv,   "Call"sv,     "Keyed"sv,
                                             "Binary"sv, "Compare"sv, "ToBoolean"sv};

constexpr std::string_view kBuiltinTag = "Builtin:";
constexpr std::string_view kEmbeddedBuiltin = "Builtins_";  // in the symbol table of the node binary
constexpr std::string_view kRegExpTag = "RegExp:";
constexpr std::string_view kWasmTag = "Wasm:";
// What profilers call time in the collector: V8's, pprof-nodejs (Datadog, Pyroscope).
constexpr std::array kCollectors = {"(garbage collector)"sv, "Garbage Collection"sv};
constexpr std::string_view kIdle = "(idle)";
constexpr std::string_view kUnknownSymbol = "[unknown]";

template <std::size_t N>
std::optional<std::string_view> after_any_prefix(std::string_view text,
                                                 const std::array<std::string_view, N>& all) {
  for (const std::string_view prefix : all) {
    if (text.starts_with(prefix)) return text.substr(prefix.size());
  }
  return std::nullopt;
}

bool is_old_builtin_tag(std::string_view symbol) {
  const std::size_t colon = symbol.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view tag = symbol.substr(0, colon);
  const auto begins = [&](std::string_view start) { return tag.starts_with(start); };
  const auto ends = [&](std::string_view end) { return tag.ends_with(end); };
  return std::ranges::any_of(kOldBuiltinTagStarts, begins) && std::ranges::any_of(kOldBuiltinTagEnds, ends);
}

bool is_tagged_builtin(std::string_view symbol) {
  return after_any_prefix(symbol, kBuiltinTags).has_value() || is_old_builtin_tag(symbol);
}

struct Marked {
  JsTier tier = JsTier::kNone;
  std::string_view rest;
};

JsTier tier_of_mark(char mark) {
  switch (mark) {
    case '~':
      return JsTier::kInterpreted;
    case '^':
      return JsTier::kBaseline;
    case '+':  // Turboprop in V8 9, Maglev since
      return JsTier::kMaglev;
    case '*':
      return JsTier::kTurbofan;
    default:
      return JsTier::kNone;
  }
}

// `~name`, `*name`; since V8 13 also `*'name` (specialised to its context) and, since V8 14, `o+name`
// (entered in the middle of a loop).
Marked split_mark(std::string_view text) {
  const bool on_stack = text.size() > 1 && text[0] == 'o' && tier_of_mark(text[1]) != JsTier::kNone;
  std::string_view rest = text.substr(on_stack ? 1 : 0);
  if (rest.empty()) return {JsTier::kNone, text};
  const JsTier tier = tier_of_mark(rest[0]);
  if (tier == JsTier::kNone) return {tier, text};
  rest.remove_prefix(1);
  const bool optimized = tier == JsTier::kMaglev || tier == JsTier::kTurbofan;
  if (optimized && rest.starts_with('\'')) rest.remove_prefix(1);
  return {tier, rest};
}

char mark_of(JsTier tier) {
  constexpr std::array kMarks = {'\0', '~', '^', '+', '*'};
  return kMarks[static_cast<std::size_t>(tier)];
}

// Takes `:NUMBER` off the end of `text`.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = parse_number<std::uint32_t>(text.substr(colon + 1));
  if (number) text = text.substr(0, colon);
  return number;
}

bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "file:///", "webpack-internal:///", "https://"
bool starts_with_scheme(std::string_view text) {
  constexpr std::size_t kLongestScheme = 24;
  const std::size_t colon = text.substr(0, kLongestScheme).find(':');
  if (colon == std::string_view::npos || colon < 2 || !text.substr(colon).starts_with("://")) return false;
  return std::ranges::all_of(text.substr(0, colon),
                             [](char c) { return is_alpha(c) || c == '-' || c == '+' || c == '.'; });
}

// A place where a script's name can begin although it has spaces in it.
bool starts_script_name(std::string_view text) {
  if (text.starts_with('/') || text.starts_with("node:") || text.starts_with("\\\\")) return true;
  const bool drive =
      text.size() > 2 && is_alpha(text[0]) && text[1] == ':' && (text[2] == '\\' || text[2] == '/');
  return drive || starts_with_scheme(text);
}

// The last space before a script's name: the name of a function may hold " /" ("GET /users"), and a path may
// hold spaces, but hardly a space and then a slash.
std::optional<std::size_t> space_before_script(std::string_view text, bool has_line) {
  for (std::size_t space = text.rfind(' '); space != std::string_view::npos;
       space = space == 0 ? std::string_view::npos : text.rfind(' ', space - 1)) {
    if (starts_script_name(text.substr(space + 1))) return space;
  }
  if (!has_line) return std::nullopt;
  // Scripts of V8 itself were called "native array.js" up to V8 5.
  const std::size_t last = text.rfind(' ');
  if (last == std::string_view::npos) return std::nullopt;
  const std::size_t native = text.rfind("native ", last);
  if (native != std::string_view::npos && native + 6 == last && native != 0 && text[native - 1] == ' ')
    return native - 1;
  return last;
}

// Wasm code is written as NAME-INDEX-COMPILER behind the tag of a function.
std::optional<SymbolName> parse_wasm(std::string_view text) {
  SymbolName name;
  name.kind = FrameKind::kWasm;
  if (text.ends_with("-liftoff")) {
    name.tier = JsTier::kBaseline;
  } else if (text.ends_with("-turbofan")) {
    name.tier = JsTier::kTurbofan;
  } else if (!text.starts_with("wasm-function[")) {
    return std::nullopt;
  }
  if (name.tier != JsTier::kNone || text.ends_with("-none") || text.ends_with("-interpreter")) {
    text = text.substr(0, text.rfind('-'));
  }
  const std::size_t dash = text.rfind('-');
  if (dash != std::string_view::npos) {
    const std::string_view index = text.substr(dash + 1);
    if (index == "<anonymous>" || parse_number<std::uint32_t>(index)) {
      name.function = text.substr(0, dash);
      return name;
    }
  }
  if (!text.starts_with("wasm-function[")) return std::nullopt;
  name.function = text;
  return name;
}

SymbolName parse_script(std::string_view text) {
  if (const auto wasm = parse_wasm(text)) return *wasm;
  const auto [tier, rest] = split_mark(text);
  SymbolName name;
  name.kind = FrameKind::kJs;
  name.tier = tier;
  std::string_view place = rest;
  const auto last = take_number(place);
  const auto first = last ? take_number(place) : std::nullopt;
  const auto space = space_before_script(place, last.has_value());
  // Before V8 6 there was no space between the mark of a script and its name.
  if (!space && starts_script_name(place)) {
    name.file = place;
  } else if (!space) {
    name.function = rest;
    return name;
  } else {
    name.function = place.substr(0, *space);
    name.file = place.substr(*space + 1);
  }
  name.line = first.value_or(last.value_or(0));
  name.column = first ? *last : 0;
  return name;
}

// "RegExp.> src: 'a+' flags: 'gi'", which V8 13 and later write so that demanglers leave it alone.
std::optional<SymbolName> parse_new_regexp(std::string_view symbol) {
  constexpr std::string_view kSource = " src: '";
  constexpr std::string_view kFlags = "' flags: '";
  if (!symbol.starts_with("RegExp.>") && !symbol.starts_with("RegExp.<")) return std::nullopt;
  std::string_view rest = symbol.substr(8);
  const std::size_t flags = rest.rfind(kFlags);
  if (!rest.starts_with(kSource) || flags == std::string_view::npos || flags < kSource.size())
    return std::nullopt;
  SymbolName name;
  name.kind = FrameKind::kRegExp;
  name.function = rest.substr(kSource.size(), flags - kSource.size());
  name.regexp_flags = rest.substr(flags + kFlags.size());
  if (name.regexp_flags.ends_with('\'')) name.regexp_flags.remove_suffix(1);
  return name;
}

// Words that occur only in the names of V8's collectors, of their visitors and of the phases they run.
constexpr std::array kCollectorWords = {"Scaveng"sv,
                                        "MarkCompact"sv,
                                        "MarkSweep"sv,
                                        "Marking"sv,
                                        "Sweeper"sv,
                                        "Sweeping"sv,
                                        "SweepTask"sv,
                                        "SweepFinalizer"sv,
                                        "Evacuat"sv,
                                        "GarbageCollect"sv,
                                        "CollectGarbage"sv,
                                        "CollectAllGarbage"sv,
                                        "CollectAllAvailableGarbage"sv,
                                        "CollectSharedGarbage"sv,
                                        "MinorGC"sv,
                                        "GCTracer"sv,
                                        "GCInvoker"sv,
                                        "HandleGCRequest"sv,
                                        "PointersUpdating"sv,
                                        "UpdatingItem"sv,
                                        "UnifiedHeapMarker"sv,
                                        "UnifiedHeapConcurrentMarker"sv,
                                        "WeakObjectRetainer"sv,
                                        "ProcessAllWeakReferences"sv,
                                        "ProcessYoungWeakReferences"sv,
                                        "ProcessWeakListRoots"sv,
                                        "ExternalStringTableCleaner"sv,
                                        "IsolateSafepoint"sv,
                                        "GlobalSafepoint"sv,
                                        "WeakCallbackJobTask"sv,
                                        "cppgc::internal::Marker"sv,
                                        "cppgc::internal::ConcurrentMarker"sv,
                                        "cppgc::internal::Compactor"sv};

// Parts of V8 that are never the collector, though they name things after it.
constexpr std::array kOtherNamespaces = {"compiler::"sv,    "maglev::"sv,  "wasm::"sv,  "interpreter::"sv,
                                         "baseline::"sv,    "8compiler"sv, "6maglev"sv, "4wasm"sv,
                                         "11interpreter"sv, "8baseline"sv};

// What is behind V8's namespace in a demangled or mangled name.
std::optional<std::string_view> name_inside_v8(std::string_view symbol) {
  constexpr std::array kMangled = {"_ZN2v88internal"sv, "_ZNK2v88internal"sv, "_ZN5cppgc8internal"sv};
  if (const auto name = after_any_prefix(symbol, kMangled)) return name;
  for (const std::string_view scope : {"v8::internal::"sv, "cppgc::internal::"sv}) {
    const std::size_t found = symbol.find(scope);
    if (found != std::string_view::npos) return symbol.substr(found + scope.size());
  }
  return std::nullopt;
}

bool is_collector(std::string_view symbol) {
  if (std::ranges::find(kCollectors, symbol) != kCollectors.end()) return true;
  const auto name = name_inside_v8(symbol);
  if (!name || after_any_prefix(*name, kOtherNamespaces)) return false;
  return std::ranges::any_of(
      kCollectorWords, [&](std::string_view word) { return symbol.find(word) != std::string_view::npos; });
}

// What is in brackets in a process's own mappings; any other bracketed name is a module of the kernel.
constexpr std::array kUserMappings = {"[vdso"sv,    "[vsyscall"sv, "[vectors"sv, "[vvar"sv,
                                      "[heap"sv,    "[stack"sv,    "[anon"sv,    "[unknown"sv,
                                      "[uprobes"sv, "[sigpage"sv,  "[jit"sv,     "[JIT"sv};

bool is_kernel_module(std::string_view module) {
  if (module.starts_with('[')) return !after_any_prefix(module, kUserMappings).has_value();
  const std::string_view base = file_name_of(module);
  if (base == "vmlinux" || base.starts_with("vmlinux-") || base.starts_with("bpf_prog_")) return true;
  constexpr std::array kModuleEnds = {".ko"sv, ".ko.gz"sv, ".ko.xz"sv, ".ko.zst"sv};
  return std::ranges::any_of(kModuleEnds, [&](std::string_view end) { return base.ends_with(end); });
}

std::string location_of(const Profile& profile, const Frame& frame) {
  const std::string_view file = profile.text(frame.file);
  const bool has_line = frame.begin_line() != 0 || frame.begin_column() != 0;
  if (file.empty() && !has_line) return {};
  std::string text = " " + std::string(file);
  // A relative name is known as a script's only by a line behind it.
  if (has_line || !starts_script_name(file)) text += ':' + std::to_string(frame.begin_line());
  if (frame.begin_column() != 0) text += ':' + std::to_string(frame.begin_column());
  return text;
}

std::string marked(std::string_view tag, const Profile& profile, const Frame& frame) {
  std::string text(tag);
  if (const char mark = mark_of(frame.tier); mark != '\0') text += mark;
  const std::string_view function = profile.text(frame.function);
  // The first ' behind a mark of optimized code is taken for a part of the mark.
  const bool optimized = frame.tier == JsTier::kMaglev || frame.tier == JsTier::kTurbofan;
  if (optimized && function.starts_with('\'')) text += '\'';
  text += function;
  return text;
}

// Pyroscope writes FILE:FUNCTION:LINE also where V8 gives neither file nor line: ":(idle):0".
std::string_view without_empty_place(std::string_view symbol) {
  constexpr std::string_view kStart = ":(";
  constexpr std::string_view kEnd = "):0";
  if (!symbol.starts_with(kStart) || !symbol.ends_with(kEnd) || symbol.size() <= kStart.size() + kEnd.size())
    return symbol;
  return symbol.substr(1, symbol.size() - 3);
}

}  // namespace

SymbolName parse_symbol_name(std::string_view symbol) {
  symbol = without_empty_place(symbol);
  SymbolName name;
  name.function = symbol;
  if (const auto script = after_any_prefix(symbol, kScriptTags)) return parse_script(*script);
  if (const auto regexp = parse_new_regexp(symbol)) return *regexp;
  if (symbol.starts_with(kRegExpTag)) {
    name.function = symbol.substr(kRegExpTag.size());
    name.kind = FrameKind::kRegExp;
  } else if (symbol.starts_with(kWasmTag)) {
    const auto [tier, rest] = split_mark(symbol.substr(kWasmTag.size()));
    name.function = rest;
    name.tier = tier;
    name.kind = FrameKind::kWasm;
  } else if (symbol.starts_with(kBuiltinTag) || symbol.starts_with(kEmbeddedBuiltin)) {
    name.function =
        symbol.substr(symbol.starts_with(kBuiltinTag) ? kBuiltinTag.size() : kEmbeddedBuiltin.size());
    name.kind = FrameKind::kBuiltin;
  } else if (is_tagged_builtin(symbol)) {
    name.kind = FrameKind::kBuiltin;
  } else if (is_collector(symbol)) {
    name.kind = FrameKind::kGc;
  }
  return name;
}

Frame frame_of_symbol(Profile& profile, std::string_view symbol, std::string_view module, bool inlined) {
  Frame frame;
  frame.module = profile.strings.intern(module);
  frame.inlined = inlined;
  const bool has_symbol = !symbol.empty() && symbol != kUnknownSymbol;
  if (is_kernel_module(module)) {
    if (has_symbol) frame.function = profile.strings.intern(symbol);
    frame.kind = FrameKind::kKernel;
    return frame;
  }
  if (!has_symbol) return frame;
  const SymbolName name = parse_symbol_name(symbol);
  const bool is_native = name.kind == FrameKind::kUnknown && name.function != kIdle;
  frame.kind = is_native ? FrameKind::kNative : name.kind;
  frame.tier = name.tier;
  frame.line = name.line;
  frame.column = name.column;
  frame.file = profile.strings.intern(name.file);
  if (name.regexp_flags.empty()) {
    frame.function = profile.strings.intern(name.function);
  } else {
    frame.function =
        profile.strings.intern("/" + std::string(name.function) + "/" + std::string(name.regexp_flags));
  }
  return frame;
}

std::string symbol_of_frame(const Profile& profile, const Frame& frame) {
  const std::string_view function = profile.text(frame.function);
  switch (frame.kind) {
    case FrameKind::kJs:
      return marked("JS:", profile, frame) + location_of(profile, frame);
    case FrameKind::kWasm:
      return marked(kWasmTag, profile, frame);
    case FrameKind::kRegExp:
      return std::string(kRegExpTag) + std::string(function);
    case FrameKind::kBuiltin:
      return is_tagged_builtin(function) ? std::string(function)
                                         : std::string(kBuiltinTag) + std::string(function);
    case FrameKind::kUnknown:
    case FrameKind::kNative:
    case FrameKind::kKernel:
    case FrameKind::kGc:
      break;
  }
  return function.empty() ? std::string(kUnknownSymbol) : std::string(function);
}

}  // namespace nodescope
