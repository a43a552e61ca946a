#pragma once

#include <string>
#include <string_view>

#include "app/server/recordings.h"
#include "app/server/request.h"

namespace nodescope::server {

// What a response says, whatever carries it.
struct Answer {
  unsigned status = 200;
  std::string_view type = "text/plain; charset=utf-8";
  std::string_view encoding;  // empty: none
  std::string location;       // of a redirect
  std::string text;           // the body, or
  std::string_view borrowed;  // one that lives as long as the server

  std::string_view body() const { return borrowed.empty() ? text : borrowed; }
};

// All that is served.
class Content {
 public:
  explicit Content(Recordings recordings);

  // `takes_gzip`: whoever asks.
  Answer answer(const Route& route, const Gate& gate, bool takes_gzip);

  // The Content-Security-Policy of every answer.
  const std::string& policy() const { return policy_; }

 private:
  Recordings recordings_;
  std::string page_;
  std::string policy_;
};

Answer answer(const Refusal& refusal);

}  // namespace nodescope::server
