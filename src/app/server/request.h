#pragma once

// Which request is answered, and by what.  Nothing but text in and a decision out: no sockets, no files.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace nodescope::server {

// Whom the server lets in.
struct Gate {
  std::string token;
  // Opens the page once instead of the token.  It stands in the command line of a browser, where others can
  // read it.  Empty: used up, or not wanted.
  std::string opening_key;
  std::uint16_t port = 0;
};

struct RequestHead {
  std::string_view method;
  std::string_view target;
  // Nothing where the header is missing or there twice.
  std::optional<std::string_view> host;
  // Nothing where there is none; empty where there are several.
  std::optional<std::string_view> origin;
  bool has_body = false;
};

enum class Resource : std::uint8_t {
  kPage,
  kPageWithoutSlash,  // of its address: a redirect
  kOpening,           // the key was right: a redirect to the page
  kRecordingList,
  kRecording,
  kSource,
  kHeapAnswer,
};

struct Route {
  Resource resource = Resource::kPage;
  std::size_t recording = 0;  // of kRecording; may be one that is not there
  std::string path;           // of kSource
  std::string generated;  // of kSource: the file whose source map leads there; empty: `path` is one itself
  std::string question = {};  // of kHeapAnswer

  bool operator==(const Route&) const = default;
};

struct Refusal {
  unsigned status = 404;
  std::string_view reason;  // one line for people

  bool operator==(const Refusal&) const = default;
};

// Paths are compared as they are, never tidied up: "..", "%2e" and "//" are in none that we know.
std::expected<Route, Refusal> route(const RequestHead& request, const Gate& gate);

}  // namespace nodescope::server
