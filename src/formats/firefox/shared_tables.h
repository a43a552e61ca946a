#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/firefox/columns.h"
#include "formats/firefox/sidecar.h"
#include "json/reader.h"
#include "model/profile.h"

namespace nodescope::firefox {

struct Library {
  std::string path;
  std::string debug_id;  // breakpad's
  std::string code_id;   // the build id
};

// What the whole file says.
struct FileFacts {
  bool is_ours = false;  // then categories are kinds
  std::vector<std::string> categories;
  std::vector<Library> libraries;
};

// The tables of functions, frames and stacks: of the file since version 60, of each thread before.
class SharedTables {
 public:
  // Takes the next value of `reader` if `key` is one of these tables; whether it was.
  bool read_member(json::Reader& reader, std::string_view key);

  bool empty() const { return stacks_.length() == 0 && texts_.empty(); }
  std::string_view text(std::optional<std::size_t> index) const;
  std::size_t text_count() const { return texts_.size(); }

  // Adds all of it to `profile`; then stack(i) is the stack of that number.
  void build(Profile& profile, const FileFacts& file, const Sidecar& symbols);
  StackId stack(std::size_t i) const { return i < built_.size() ? built_[i] : kEmptyStack; }
  std::size_t stack_count() const { return built_.size(); }

 private:
  Frame frame_of(Profile& profile, const FileFacts& file, const Sidecar& symbols, std::size_t row) const;
  Frame own_frame_of(Profile& profile, const FileFacts& file, std::size_t row, std::size_t function) const;
  const Library* library_of(const FileFacts& file, std::size_t function) const;
  std::string_view file_of(std::size_t function) const;
  std::string_view category_of(const FileFacts& file, std::size_t row) const;

  std::vector<std::string> texts_;
  Columns stacks_;
  Columns frames_;
  Columns functions_;
  Columns resources_;
  Columns sources_;
  std::vector<StackId> built_;
};

}  // namespace nodescope::firefox
