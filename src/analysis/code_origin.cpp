#include "analysis/code_origin.h"

#include <algorithm>
#include <array>

#include "model/name_marks.h"

namespace nodescope {

namespace {

constexpr std::string_view kMyCode = "(my code)";
constexpr std::string_view kPackagePrefix = "(node_modules)/";
constexpr std::string_view kNodeInternals = "(node internals)";

// Files of Node's own JavaScript had no "node:" before Node 16 and no folder either: "events.js:210".
constexpr auto kBareNodeFiles = std::to_array<std::string_view>({"_http_agent",
                                                                 "_http_client",
                                                                 "_http_common",
                                                                 "_http_incoming",
                                                                 "_http_outgoing",
                                                                 "_http_server",
                                                                 "_linklist",
                                                                 "_stream_duplex",
                                                                 "_stream_passthrough",
                                                                 "_stream_readable",
                                                                 "_stream_transform",
                                                                 "_stream_wrap",
                                                                 "_stream_writable",
                                                                 "_tls_common",
                                                                 "_tls_legacy",
                                                                 "_tls_wrap",
                                                                 "assert",
                                                                 "async_hooks",
                                                                 "bootstrap_node",
                                                                 "buffer",
                                                                 "child_process",
                                                                 "cluster",
                                                                 "console",
                                                                 "constants",
                                                                 "crypto",
                                                                 "dgram",
                                                                 "diagnostics_channel",
                                                                 "dns",
                                                                 "domain",
                                                                 "events",
                                                                 "freelist",
                                                                 "fs",
                                                                 "http",
                                                                 "http2",
                                                                 "https",
                                                                 "inspector",
                                                                 "module",
                                                                 "net",
                                                                 "node",
                                                                 "os",
                                                                 "path",
                                                                 "perf_hooks",
                                                                 "process",
                                                                 "punycode",
                                                                 "querystring",
                                                                 "readline",
                                                                 "repl",
                                                                 "smalloc",
                                                                 "stream",
                                                                 "string_decoder",
                                                                 "sys",
                                                                 "timers",
                                                                 "tls",
                                                                 "trace_events",
                                                                 "tty",
                                                                 "url",
                                                                 "util",
                                                                 "v8",
                                                                 "vm",
                                                                 "wasi",
                                                                 "worker_threads",
                                                                 "zlib"});
static_assert(std::ranges::is_sorted(kBareNodeFiles));

bool is_node_file(std::string_view file) {
  if (file.starts_with("node:") || file.starts_with("internal/")) return true;
  if (!file.ends_with(".js")) return false;
  return std::ranges::binary_search(kBareNodeFiles, file.substr(0, file.size() - 3));
}

// What webpack puts around modules: "webpack://app/webpack/bootstrap".
bool is_webpack_runtime(std::string_view file) {
  constexpr std::string_view kScheme = "webpack://";
  if (!file.starts_with(kScheme)) return false;
  const std::size_t host = file.find('/', kScheme.size());
  return host != std::string_view::npos && file.substr(host).starts_with("/webpack/");
}

CodeOrigin origin_of_script(std::string_view function, std::string_view file, std::string_view module) {
  if (const std::string_view package = package_of_file(file); !package.empty())
    return {Origin::kPackage, package};
  if (is_webpack_runtime(file)) return {Origin::kPackage, "webpack"};
  if (module == kIgnoredModule) return {Origin::kPackage, kIgnoredModule};
  if (is_node_file(file)) return {Origin::kNode, {}};
  if (file.empty() && function == kNodeInternals) return {Origin::kNode, {}};
  if (file.empty() && function.starts_with(kPackagePrefix)) {
    return {Origin::kPackage, function.substr(kPackagePrefix.size())};
  }
  return {Origin::kOwn, {}};
}

// Code without a symbol in a library or program is native; "//anon", "[heap]" and perf's maps of generated
// code may hold anything.
Origin origin_of_module(std::string_view module) {
  const bool is_file = module.starts_with('/') && !module.starts_with("//") && !module.ends_with(".map");
  return is_file ? Origin::kNative : Origin::kUnknown;
}

}  // namespace

std::string_view package_of_file(std::string_view file) {
  constexpr std::string_view kFolder = "node_modules/";
  std::size_t at = file.rfind(kFolder);
  // "my_node_modules/" is not it.
  while (at != std::string_view::npos && at > 0 && file[at - 1] != '/' && file[at - 1] != '\\') {
    at = file.rfind(kFolder, at - 1);
  }
  if (at == std::string_view::npos) return {};
  const std::string_view rest = file.substr(at + kFolder.size());
  std::size_t end = rest.find('/');
  if (rest.starts_with('@') && end != std::string_view::npos) end = rest.find('/', end + 1);
  return rest.substr(0, end);
}

CodeOrigin origin_of(const Profile& profile, const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::kJs:
    case FrameKind::kWasm:
      return origin_of_script(profile.text(frame.function), profile.text(frame.file),
                              profile.text(frame.module));
    case FrameKind::kBuiltin:
      return {Origin::kBuiltin, {}};
    case FrameKind::kRegExp:
      return {Origin::kRegExp, {}};
    case FrameKind::kGc:
      return {Origin::kGc, {}};
    case FrameKind::kNative:
      return {Origin::kNative, {}};
    case FrameKind::kKernel:
      return {Origin::kKernel, {}};
    case FrameKind::kUnknown:
      return {origin_of_module(profile.text(frame.module)), {}};
  }
  return {};
}

FrameKind shown_kind(const Profile& profile, const Frame& frame) {
  const bool nameless_native =
      frame.kind == FrameKind::kUnknown && origin_of_module(profile.text(frame.module)) == Origin::kNative;
  return nameless_native ? FrameKind::kNative : frame.kind;
}

std::string to_string(const CodeOrigin& origin) {
  switch (origin.origin) {
    case Origin::kOwn:
      return std::string(kMyCode);
    case Origin::kPackage:
      return std::string(kPackagePrefix) + std::string(origin.package);
    case Origin::kNode:
      return std::string(kNodeInternals);
    case Origin::kBuiltin:
      return "(builtin)";
    case Origin::kRegExp:
      return "(regexp)";
    case Origin::kGc:
      return "(gc)";
    case Origin::kNative:
      return "(native)";
    case Origin::kKernel:
      return "(kernel)";
    case Origin::kUnknown:
      break;
  }
  return "(unknown)";
}

}  // namespace nodescope
