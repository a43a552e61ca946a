#include "formats/recording/table_encoder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "formats/recording/varint.h"

namespace nodescope::recording {

namespace {

// Definitions fill a chunk at 4 MiB, and a string adds at most 4 MiB to that, so a chunk's definitions stay
// well below kMaxRawBytes.
constexpr std::size_t kFullBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxStringBytes = std::size_t{4} << 20;

}  // namespace

void DefinitionColumns::put(std::size_t column, std::uint64_t value) {
  put_varint(columns_[column], value);
}

void DefinitionColumns::put_signed(std::size_t column, std::int64_t value) {
  put_varint(columns_[column], zigzag(value));
}

void DefinitionColumns::put_id(std::size_t column, std::uint64_t id) {
  put_signed(column, static_cast<std::int64_t>(id - last_ids_[column]));
  last_ids_[column] = id;
}

std::size_t DefinitionColumns::bytes() const {
  std::size_t total = 0;
  for (const std::string& column : columns_) total += column.size();
  return total;
}

void DefinitionColumns::flush(Section section, std::uint32_t first_id, std::string& out) {
  if (rows_ == 0) return;
  std::string content;
  put_varint(content, first_id);
  put_varint(content, rows_);
  for (std::string& column : columns_) {
    content += column;
    column.clear();
  }
  out += static_cast<char>(section);
  put_text(out, content);
  std::ranges::fill(last_ids_, 0u);
  rows_ = 0;
}

std::uint32_t& TableEncoder::Ids::of(std::size_t index) {
  // The profile may have grown since the last call.
  if (index >= ids.size()) ids.resize(std::max(index + 1, ids.size() * 2), kUndefined);
  return ids[index];
}

void TableEncoder::Ids::restart(std::uint32_t predefined) {
  std::ranges::fill(ids, kUndefined);
  for (std::uint32_t i = 0; i < predefined; ++i) of(i) = i;
  next = flushed = predefined;
}

void TableEncoder::restart() {
  NODESCOPE_CHECK(is_empty());
  strings_.restart(1);
  frames_.restart(0);
  stacks_.restart(1);
  processes_.restart(1);
  threads_.restart(1);
}

std::uint32_t TableEncoder::string(const Profile& profile, StringId id) {
  std::uint32_t& defined = strings_.of(id.index());
  if (defined != kUndefined) return defined;
  const std::string_view text = profile.text(id).substr(0, kMaxStringBytes);
  string_columns_.put(0, text.size());
  string_columns_.put_bytes(1, text);
  string_columns_.end_row();
  return defined = strings_.next++;
}

std::uint32_t TableEncoder::frame(const Profile& profile, FrameId id) {
  std::uint32_t& defined = frames_.of(id.index());
  if (defined != kUndefined) return defined;
  const Frame& frame = profile.frames[id];
  const unsigned flags = static_cast<unsigned>(frame.kind) |
                         static_cast<unsigned>(frame.tier) << kFrameTierShift |
                         (frame.inlined ? kFrameInlined : 0u);
  const char flag_byte = static_cast<char>(flags);
  frame_columns_.put_id(0, string(profile, frame.function));
  frame_columns_.put_id(1, string(profile, frame.file));
  frame_columns_.put_id(2, string(profile, frame.module));
  frame_columns_.put(3, frame.line);
  frame_columns_.put(4, frame.column);
  frame_columns_.put_bytes(5, {&flag_byte, 1});
  frame_columns_.put(6, frame.function_line);
  frame_columns_.put(7, frame.function_column);
  frame_columns_.put_id(8, string(profile, frame.generated));
  if (frame.function_line != 0) has_function_places_ = true;
  if (frame.generated != StringId{}) has_generated_places_ = true;
  frame_columns_.end_row();
  return defined = frames_.next++;
}

std::uint32_t TableEncoder::process(const Profile& profile, ProcessId id) {
  std::uint32_t& defined = processes_.of(id.index());
  if (defined != kUndefined) return defined;
  const Process& process = profile.process(id);
  process_columns_.put_signed(0, process.pid);
  process_columns_.put(0, string(profile, process.name));
  process_columns_.end_row();
  return defined = processes_.next++;
}

std::uint32_t TableEncoder::thread(const Profile& profile, ThreadId id) {
  std::uint32_t& defined = threads_.of(id.index());
  if (defined != kUndefined) return defined;
  const Thread& thread = profile.thread(id);
  thread_columns_.put(0, process(profile, thread.process));
  thread_columns_.put_signed(0, thread.tid);
  thread_columns_.put(0, string(profile, thread.name));
  thread_columns_.end_row();
  return defined = threads_.next++;
}

bool TableEncoder::define_stack(const Profile& profile, StackId id) {
  if (stacks_.of(id.index()) != kUndefined) return true;
  path_.clear();
  for (; stacks_.of(id.index()) == kUndefined; id = profile.stacks.caller(id)) path_.push_back(id);
  for (; !path_.empty(); path_.pop_back()) {
    if (is_full()) return false;
    const StackId stack = path_.back();
    stack_columns_.put_id(0, frame(profile, profile.stacks.frame(stack)));
    stack_columns_.put(1, stacks_.next - stacks_.of(profile.stacks.caller(stack).index()));
    stack_columns_.end_row();
    stacks_.of(stack.index()) = stacks_.next++;
  }
  return true;
}

bool TableEncoder::is_full() const {
  return definition_bytes() >= kFullBytes;
}

std::size_t TableEncoder::definition_bytes() const {
  return string_columns_.bytes() + frame_columns_.bytes() + stack_columns_.bytes() +
         process_columns_.bytes() + thread_columns_.bytes();
}

// A section may refer to those before it only.
void TableEncoder::flush(std::string& payload) {
  const auto flush_one = [&](DefinitionColumns& columns, Section section, Ids& ids) {
    columns.flush(section, ids.flushed, payload);
    ids.flushed = ids.next;
  };
  flush_one(string_columns_, Section::kStrings, strings_);
  const bool has_generated_places = std::exchange(has_generated_places_, false);
  if (!has_generated_places) frame_columns_.drop_column(8);
  if (!std::exchange(has_function_places_, false) && !has_generated_places) {
    frame_columns_.drop_column(6);
    frame_columns_.drop_column(7);
  }
  flush_one(frame_columns_, Section::kFrames, frames_);
  flush_one(stack_columns_, Section::kStacks, stacks_);
  flush_one(process_columns_, Section::kProcesses, processes_);
  flush_one(thread_columns_, Section::kThreads, threads_);
}

}  // namespace nodescope::recording
