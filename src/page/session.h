#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cause.h"
#include "analysis/overview.h"
#include "analysis/summed_selection.h"
#include "base/result.h"
#include "formats/recording/recording_reader.h"
#include "model/profile.h"
#include "page/query.h"

namespace nodescope::page {

// A recording that is open, with what every view needs of it.
struct Recording {
  std::string name;
  Profile profile;
  std::vector<Cause> causes;  // by stack
  Overview overview;
};

// What part of which recording a question is about.
struct Asked {
  std::size_t file = 0;
  Selection selection;
  CountBy count = CountBy::kWeight;

  bool operator==(const Asked&) const = default;
};

// Recordings, and questions about them.  Nothing here knows of a browser.
class Session {
 public:
  // Both give a whole reply (page/reply.h), that of a failure too.
  std::string open(std::span<const std::byte> file, std::string_view name, recording::Decompress decompress);
  std::string ask(std::string_view query);

  // For a profile that is in memory already.
  void add(std::string name, Profile profile);

  Result<Asked> parse_asked(const Query& query) const;
  const Recording& recording(const Asked& asked) const { return *recordings_[asked.file]; }
  std::size_t size() const { return recordings_.size(); }

  // Kept for the next views, which often ask for the same.
  Result<std::shared_ptr<const SummedSelection>> sums(const Asked& asked, bool by_thread = false);

 private:
  struct Kept {
    Asked asked;
    bool by_thread = false;
    std::shared_ptr<const SummedSelection> sums;
  };

  std::vector<std::unique_ptr<Recording>> recordings_;
  std::vector<Kept> kept_;  // the last one used is the last
};

}  // namespace nodescope::page
