#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/recording/layout.h"
#include "model/profile.h"

namespace nodescope::recording {

// One section of definitions under construction.
class DefinitionColumns {
 public:
  explicit DefinitionColumns(std::size_t columns) : columns_(columns), last_ids_(columns) {}

  void put(std::size_t column, std::uint64_t value);
  void put_signed(std::size_t column, std::int64_t value);
  // As the distance from the id before it in this column.
  void put_id(std::size_t column, std::uint64_t id);
  void drop_column(std::size_t column) { columns_[column].clear(); }
  void put_bytes(std::size_t column, std::string_view bytes) { columns_[column] += bytes; }
  void end_row() { ++rows_; }

  std::size_t bytes() const;
  // Appends the section and begins the next one.  Nothing is written for no rows.
  void flush(Section section, std::uint32_t first_id, std::string& out);

 private:
  std::vector<std::string> columns_;
  std::vector<std::uint64_t> last_ids_;
  std::uint32_t rows_ = 0;
};

// Gives ids of the file to what chunks refer to.  What is used for the first time since the tables began anew
// is defined in the chunk under construction; what is not used is not written.
class TableEncoder {
 public:
  // From here on nothing is defined.
  void restart();

  std::uint32_t string(const Profile& profile, StringId id);
  std::uint32_t frame(const Profile& profile, FrameId id);
  std::uint32_t process(const Profile& profile, ProcessId id);
  std::uint32_t thread(const Profile& profile, ThreadId id);

  // False if definitions have filled the chunk before the stack was whole; then call again with the next
  // chunk.
  bool define_stack(const Profile& profile, StackId id);
  std::uint32_t stack(StackId id) const { return stacks_.ids[id.index()]; }

  // So many definitions that they should be written before more are made.
  bool is_full() const;
  bool is_empty() const { return definition_bytes() == 0; }

  // Appends all sections of definitions and begins the next chunk.
  void flush(std::string& payload);

 private:
  static constexpr std::uint32_t kUndefined = 0xFFFFFFFF;

  // Ids in the file by ids in the profile.
  struct Ids {
    std::vector<std::uint32_t> ids;
    std::uint32_t next = 0;
    std::uint32_t flushed = 0;

    std::uint32_t& of(std::size_t index);
    void restart(std::uint32_t predefined);
  };

  std::size_t definition_bytes() const;

  Ids strings_;
  Ids frames_;
  Ids stacks_;
  Ids processes_;
  Ids threads_;
  DefinitionColumns string_columns_{2};
  DefinitionColumns frame_columns_{9};
  bool has_function_places_ = false;  // in the section under construction
  bool has_generated_places_ = false;
  DefinitionColumns stack_columns_{2};
  DefinitionColumns process_columns_{1};
  DefinitionColumns thread_columns_{1};
  std::vector<StackId> path_;
};

}  // namespace nodescope::recording
