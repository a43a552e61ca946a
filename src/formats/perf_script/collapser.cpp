#include "formats/perf_script/collapser.h"

#include <algorithm>

namespace nodescope {

namespace {
constexpr std::size_t kExampleBytes = 120;
}

Result<void> Collapser::read(SampleLines& lines, const SamplePart& part) {
  part_ = part.index;
  for (;;) {
    const auto block = lines.next();
    if (!block) return std::unexpected(block.error());
    if (!*block) break;
    if (options_.srcline) {
      const std::size_t done = read_block_with_source_lines(**block, lines.at_end());
      if (done < (*block)->size()) lines.keep_from((*block)->begin_of(done));
    } else {
      read_block(**block);
    }
  }
  lines_left_out_ += lines.lines_left_out();
  // What is left is a last sample without an empty line after it.  The script forgets it.
  if (root_ != kEmptyStack) ++unterminated_count_;
  end_sample();
  return {};
}

void Collapser::read_block(const LineBlock& block) {
  hashes_.set(block);
  for (std::size_t i = 0; i < block.size(); ++i) {
    const WideHash& hash = hashes_.at(i, table());
    const std::string_view line = block.line(i);
    if (line.empty()) {
      save_sample();
    } else if (line[0] == '\t' || line[0] == ' ' || (line[0] != '#' && !read_header(line))) {
      read_frame(hash, line);
    }
  }
}

bool Collapser::read_header(std::string_view line) {
  const auto header = match_perl_header(line);
  if (!header) return false;
  PerlNumber period(1);
  if (const auto event = match_perl_event(line)) {
    if (event_filter_.empty()) {
      event_filter_ = event->name;
      filters_by_default_ = true;
    } else if (event->name != event_filter_) {
      if (filters_by_default_) other_event_.offer(part_, event->name);
      return true;
    }
    if (!event->period.empty() && event->period != "0") period = PerlNumber(event->period);
  }
  period_ = period;
  set_process(*header);
  return true;
}

void Collapser::set_process(const PerlHeader& header) {
  std::string name(header.comm);
  if (options_.tid) {
    name.append("-").append(header.pid).append("/").append(header.tid);
  } else if (options_.pid) {
    name.append("-").append(header.pid);
  }
  if (name != process_ || process_root_ == kEmptyStack) {
    process_ = name;
    std::ranges::replace(name, ' ', '_');
    process_root_ = push(kEmptyStack, name);
    is_java_ = name.starts_with("java");
  }
  root_ = process_root_;
}

// A name with ';' in it is several names of the path, because the line does not show the difference.
StackId Collapser::push(StackId path, std::string_view names) {
  for (;;) {
    const std::size_t end = names.find(';');
    path = paths_.push(path, paths_.intern(names.substr(0, end)));
    if (end == std::string_view::npos) return path;
    names.remove_prefix(end + 1);
  }
}

std::optional<std::vector<FrameId>> Collapser::interpret(std::string_view text, bool is_java) {
  const std::size_t line_end = text.find('\n');
  const auto frame = match_perl_frame(text.substr(0, line_end));
  if (!frame) return std::nullopt;
  if (const auto name = plain_perl_function(*frame, is_java, options_))
    return std::vector{FrameId{paths_.intern(*name).index()}};
  std::string_view source_lines = line_end == std::string_view::npos ? "" : text.substr(line_end + 1);
  std::vector<FrameId> ids;
  for (PerlFunction& function : perl_functions(*frame, is_java, options_)) {
    if (function.takes_source_line) {
      const std::size_t end = std::min(source_lines.find('\n'), source_lines.size());
      const std::string place = perl_source_line(source_lines.substr(0, end));
      if (!place.empty()) function.name += ":" + place;
      source_lines.remove_prefix(std::min(end + 1, source_lines.size()));
    }
    std::string_view names = function.name;
    for (std::size_t end = 0; end != std::string_view::npos;
         names.remove_prefix(std::min(end + 1, names.size()))) {
      end = names.find(';');
      ids.emplace_back(paths_.intern(names.substr(0, end)).index());
    }
  }
  return ids;
}

std::size_t Collapser::source_lines_of(std::string_view line) {
  const auto frame = match_perl_frame(line);
  if (!frame) return 0;
  return static_cast<std::size_t>(
      std::ranges::count(perl_functions(*frame, is_java_, options_), true, &PerlFunction::takes_source_line));
}

// A frame takes the lines that follow it, be they what they may.  Returns the first line that has to be seen
// again, together with what follows the block.
std::size_t Collapser::read_block_with_source_lines(const LineBlock& block, bool at_end) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::string_view line = block.line(i);
    if (line.empty()) {
      save_sample();
    } else if (!line.starts_with('#') && !read_header(line) && root_ != kEmptyStack) {
      const std::size_t count = source_line_counts_.find(hashes_.of(line), line)->size();
      if (i + count >= block.size() && !at_end) return i;
      const std::size_t last = std::min(i + count, block.size() - 1);
      const std::string_view lines(line.data(), block.text + block.ends[last]);
      read_frame(hashes_.of(lines), lines);
      i = last;
    }
  }
  return block.size();
}

void Collapser::note_unrecognised(std::string_view line) {
  ++unrecognised_count_;
  unrecognised_.offer(part_, line.substr(0, kExampleBytes));
}

void Collapser::end_sample() {
  root_ = kEmptyStack;
  builder_.discard();
  for (LineTable* table : {&lines_, &java_lines_, &source_line_counts_}) {
    if (table->is_full()) table->clear();
  }
}

CollapsedPaths Collapser::take() {
  CollapsedPaths total{std::move(paths_), {}, {}};
  add_sums(total, [](StackId path) { return path; });
  return total;
}

void Collapser::add_to(CollapsedPaths& total) const {
  std::vector<StackId> paths(paths_.size());
  std::vector<std::optional<StringId>> names(paths_.name_count());
  for (std::size_t i = 1; i < paths.size(); ++i) {
    const StackId path{i};
    auto& name = names[paths_.name(path).index()];
    if (!name) name = total.paths.intern(paths_.text(paths_.name(path)));
    paths[i] = total.paths.push(paths[paths_.parent(path).index()], *name);
  }
  add_sums(total, [&](StackId path) { return paths[path.index()]; });
}

template <typename PathOf>
void Collapser::add_sums(CollapsedPaths& total, PathOf path_of) const {
  total.sums.resize(total.paths.size());
  total.is_written.resize(total.paths.size());
  for (std::uint32_t i = 0; i < sums_.size(); ++i) {
    const std::size_t path = path_of(builder_.stack(i)).index();
    total.sums[path] += sums_[i];
    total.is_written[path] = true;
  }
}

}  // namespace nodescope
