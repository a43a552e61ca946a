#include "formats/perf_script/perl_rules.h"

#include <algorithm>

#include "base/path.h"

namespace nodescope {

namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Perl's \s, \d and \w on bytes.
bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

template <typename Predicate>
std::size_t skip(std::string_view text, std::size_t from, Predicate predicate) {
  while (from < text.size() && predicate(text[from])) ++from;
  return from;
}

// The first byte of the run that ends right before `end`.
template <typename Predicate>
std::size_t skip_back(std::string_view text, std::size_t end, Predicate predicate) {
  while (end != 0 && predicate(text[end - 1])) --end;
  return end;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != kNone;
}

// "perf-" digits "." "map", where the point may be any byte.
bool contains_perf_map(std::string_view text, std::string_view prefix, bool any_byte_for_point) {
  for (std::size_t at = text.find(prefix); at != kNone; at = text.find(prefix, at + 1)) {
    const std::size_t digits = at + prefix.size();
    const std::size_t end = skip(text, digits, is_digit);
    if (end == digits) continue;
    // With any byte in place of the point the last digit may be that byte.
    if (any_byte_for_point && end - digits >= 2 && text.substr(end).starts_with("map")) return true;
    const bool point = end < text.size() && (any_byte_for_point || text[end] == '.');
    if (point && text.substr(end + 1).starts_with("map")) return true;
  }
  return false;
}

bool contains_bracketed(std::string_view text) {
  for (std::size_t open = text.find('['); open != kNone; open = text.find('[', open + 1)) {
    const std::size_t close = text.find(']', open + 1);
    if (close == kNone) return false;
    if (close > open + 1) return true;
  }
  return false;
}

// addr2line is not asked about just-in-time code, the kernel and what is in brackets.
bool may_have_inlined(std::string_view module) {
  return !contains_perf_map(module, "perf-", true) && !contains(module, "kernel.") &&
         !contains_bracketed(module);
}

std::string_view without_offset(std::string_view function) {
  constexpr std::string_view kPrefix = "+0x";
  const std::size_t digits = skip_back(function, function.size(), is_lower_hex);
  if (digits == function.size() || !function.substr(0, digits).ends_with(kPrefix)) return function;
  return function.substr(0, digits - kPrefix.size());
}

// Like Perl's split: no empty fields at the end.
std::vector<std::string_view> split_arrows(std::string_view text) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t arrow = text.find("->");
    fields.push_back(text.substr(0, arrow));
    if (arrow == kNone) break;
    text.remove_prefix(arrow + 2);
  }
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
  return fields;
}

// "net/http.(*Client).Do"
bool looks_like_go(std::string_view name) {
  const std::size_t open = name.find(".(");
  const std::size_t close = name.rfind(").");
  return open != kNone && close != kNone && close >= open + 2;
}

void cut_at_parenthesis(std::string& name) {
  for (std::size_t open = name.find('('); open != kNone; open = name.find('(', open + 1)) {
    if (std::string_view(name).substr(open + 1).starts_with("anonymous namespace)")) continue;
    name.resize(open);
    return;
  }
}

void tidy(std::string& name, bool is_java) {
  std::ranges::replace(name, ';', ':');
  if (!looks_like_go(name)) cut_at_parenthesis(name);
  std::erase_if(name, [](char c) { return c == '"' || c == '\''; });
  if (is_java && name.starts_with('L') && contains(name, "/")) name.erase(0, 1);
}

std::string name_of_unknown(const PerlFrame& frame, bool with_address) {
  std::string_view name = "unknown";
  if (frame.module != "[unknown]") name = file_name_of(frame.module);
  std::string text = "[" + std::string(name);
  if (with_address) text += " <" + std::string(frame.address) + ">";
  return text + "]";
}

std::string_view annotation(std::string_view name, std::string_view module, const CollapseOptions& options) {
  const bool of_kernel =
      (module.starts_with('[') || module.ends_with("vmlinux")) && !contains(module, "unknown");
  if (options.kernel && of_kernel) return "_[k]";
  const bool of_jit = options.jit && contains_perf_map(module, "/tmp/perf-", false);
  return of_jit && !contains(name, "_[j]") ? "_[j]" : "";
}

}  // namespace

// /^(\S.+?)\s+(\d+)\/*(\d+)*\s+/
std::optional<PerlHeader> match_perl_header(std::string_view line) {
  if (line.empty() || is_space(line[0])) return std::nullopt;
  for (std::size_t space = 1; space < line.size();) {
    space = skip(line, space, [](char c) { return !is_space(c); });
    const std::size_t pid = skip(line, space, is_space);
    // The name has two bytes at least, the second of which may be a space.
    const std::size_t comm_end = std::max<std::size_t>(space, 2);
    space = pid;
    if (comm_end >= pid) continue;
    const std::size_t pid_end = skip(line, pid, is_digit);
    if (pid_end == pid) continue;
    const std::size_t tid = skip(line, pid_end, [](char c) { return c == '/'; });
    const std::size_t tid_end = tid == pid_end ? tid : skip(line, tid, is_digit);
    if (tid_end == line.size() || !is_space(line[tid_end])) continue;
    PerlHeader header{line.substr(0, comm_end), line.substr(pid, pid_end - pid),
                      line.substr(tid, tid_end - tid)};
    if (header.tid.empty() || header.tid == "0") {
      header.tid = header.pid;
      header.pid = "?";
    }
    return header;
  }
  return std::nullopt;
}

// /:\s*(\d+)*\s+(\S+):\s*$/
std::optional<PerlEvent> match_perl_event(std::string_view line) {
  const std::size_t end = skip_back(line, line.size(), is_space);
  if (end == 0 || line[end - 1] != ':') return std::nullopt;
  const std::size_t word = skip_back(line, end - 1, [](char c) { return !is_space(c); });
  const std::size_t before = skip_back(line, word, is_space);
  if (word == end - 1 || before == word || before == 0) return std::nullopt;
  PerlEvent event{{}, line.substr(word, end - 1 - word)};
  const std::size_t digits = skip_back(line, before, is_digit);
  if (digits != before) event.period = line.substr(digits, before - digits);
  const std::size_t colon = digits == before ? before : skip_back(line, digits, is_space);
  if (colon == 0 || line[colon - 1] != ':') return std::nullopt;
  return event;
}

// /^\s*(\w+)\s*(.+) \((.*)\)/
std::optional<PerlFrame> match_perl_frame(std::string_view line) {
  const std::size_t close = line.rfind(')');
  if (close == kNone || close < 2) return std::nullopt;
  const std::size_t open = line.rfind(" (", close - 2);
  if (open == kNone) return std::nullopt;
  const std::size_t address = skip(line, 0, is_space);
  std::size_t address_end = skip(line, address, is_word);
  if (address_end == address || open < address_end) return std::nullopt;
  // The function has one byte at least: it takes back what the patterns before it took, first a space, then
  // the last byte of the address.
  std::size_t function = std::min(skip(line, address_end, is_space), open - 1);
  if (function < address_end) {
    if (address_end - address < 2) return std::nullopt;
    function = --address_end;
  }
  return PerlFrame{line.substr(address, address_end - address), line.substr(function, open - function),
                   line.substr(open + 2, close - open - 2)};
}

std::optional<std::string_view> plain_perl_function(const PerlFrame& frame, bool is_java,
                                                    const CollapseOptions& options) {
  if (is_java || options.inlined || options.srcline) return std::nullopt;
  const std::string_view name = without_offset(frame.function);
  const bool is_plain =
      !name.empty() && name != "[unknown]" && name.find_first_of("(;\"'") == kNone && !contains(name, "->");
  if (!is_plain || !annotation(name, frame.module, options).empty()) return std::nullopt;
  return name;
}

std::vector<PerlFunction> perl_functions(const PerlFrame& frame, bool is_java,
                                         const CollapseOptions& options) {
  if (options.inlined && options.resolve_inlined && may_have_inlined(frame.module)) {
    std::string names = options.resolve_inlined(frame.address, frame.function, frame.module);
    if (!names.empty() && names != "??" && names != "??:??:0") return {{std::move(names), false}};
  }
  std::vector<PerlFunction> functions;
  const std::string_view function = without_offset(frame.function);
  if (function.starts_with('(')) return functions;
  bool is_unknown = false;
  for (const std::string_view part : split_arrows(function)) {
    std::string name(part);
    if (part == "[unknown]") {
      is_unknown |= frame.module == "[unknown]";
      name = name_of_unknown(frame, options.addrs);
    }
    tidy(name, is_java);
    if (functions.empty()) {
      name += annotation(name, frame.module, options);
    } else if (!contains(name, "_[i]")) {
      name += "_[i]";
    }
    functions.push_back({std::move(name), options.srcline && !is_unknown});
  }
  return functions;
}

std::string perl_source_line(std::string_view line) {
  std::string text;
  for (;;) {
    const std::size_t open = line.find('[');
    const std::size_t close = open == kNone ? kNone : line.find(']', open + 1);
    if (close == kNone) break;
    text += line.substr(0, open);
    line.remove_prefix(close + 1);
  }
  text += line;
  text.resize(skip_back(text, text.size(), is_space));
  text.erase(0, skip(text, 0, is_space));
  return text;
}

}  // namespace nodescope
