#pragma once

#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// Writes the page with recordings inside: one file that needs neither a server nor a network.
class ReportHtml {
 public:
  explicit ReportHtml(ByteSink& sink);

  // In the order in which the page shows them.  `name` is untrusted text.
  Result<void> add(const std::string& name, const Profile& profile);

  // Instead: what the page would ask a server about a heap, and its reply.
  Result<void> add_reply(const std::string& question, std::string_view reply);

  // Without it the page is cut.
  Result<void> finish();

 private:
  Result<void> begin();

  ByteSink& sink_;
  std::string page_;
  bool begun_ = false;
};

}  // namespace nodescope
