#include "v8/process_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <ranges>

#include "binary/generated_code.h"

namespace nodescope::v8 {

namespace {

// Main threads have 8 MiB of stack by default, workers 4.
constexpr std::uint64_t kMaxStackBytes = 16 << 20;

Range<Address> intersection(Range<Address> a, Range<Address> b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// How many of the innermost have no frame of their own, if there are at most `limit`.
std::size_t count_frameless(std::span<const Address> frame_pointers, std::size_t limit) {
  std::size_t count = 0;
  while (count < limit && count + 1 < frame_pointers.size() &&
         frame_pointers[count] == frame_pointers[count + 1])
    ++count;
  return count;
}

}  // namespace

// What is there when the program holds V8.
struct ProcessView::V8 {
  V8(std::shared_ptr<const Engine> shared, ImageKey key, Memory& memory, const CodeSpace& space)
      : engine(std::move(shared)),
        binary(std::move(key)),
        heap(memory, engine->layout),
        codes(heap),
        reader(heap, space, codes, scripts),
        async(heap, engine->async, space, scripts) {}

  std::shared_ptr<const Engine> engine;
  ImageKey binary;
  Heap heap;
  CodeFinder codes;
  Scripts scripts;
  FrameReader reader;
  AsyncReader async;
  std::optional<ExitFrames> exit_frames;  // of a program, not of a library
};

ProcessView::ProcessView(std::unique_ptr<TargetProcess> process, ViewCache& cache)
    : process_(std::move(process)),
      memory_(process_->memory()),
      stack_and_memory_(memory_),
      images_(*process_, memory_, cache.images()) {}

ProcessView::~ProcessView() = default;

Result<std::unique_ptr<ProcessView>> ProcessView::open(std::unique_ptr<TargetProcess> process,
                                                       ViewCache& cache, Diagnostics& diagnostics) {
  auto view = open_any(std::move(process), cache, diagnostics);
  if (view->v8_ != nullptr) {
    view->find_exit_frames();
    return view;
  }
  // Why not: it is another program, or its files cannot be read.
  auto binary = find_node_binary(*view->process_);
  if (!binary) return std::unexpected(binary.error());
  auto engine = Engine::read(binary->elf.file());
  if (!engine) return fail(engine.error(), binary->path);
  return fail(ErrorCode::kUnsupported, binary->path + " could not be read");
}

std::unique_ptr<ProcessView> ProcessView::open_any(std::unique_ptr<TargetProcess> process, ViewCache& cache,
                                                   Diagnostics& diagnostics) {
  std::unique_ptr<ProcessView> view(new ProcessView(std::move(process), cache));
  view->images_.load_all(diagnostics);
  view->find_engine(cache, diagnostics);
  for (const Region& region : view->process_->map().regions()) {
    Image* image = region.executable ? view->images_.find(region) : nullptr;
    if (image != nullptr) image->prepare();
  }
  view->space_ = view->derive_code_space();
  return view;
}

// The program itself, or a library such as libnode.so.
void ProcessView::find_engine(ViewCache& cache, Diagnostics& diagnostics) {
  std::vector<const Region*> candidates;
  for (const Region& region : process_->map().regions()) {
    if (region.executable && region.has_file() && images_.find(region) != nullptr)
      candidates.push_back(&region);
  }
  std::ranges::stable_partition(candidates,
                                [&](const Region* region) { return region->path == process_->executable(); });
  for (const Region* region : candidates) {
    const ImageKey key = key_of(*region);
    const auto engine = cache.engine(key, images_.find(*region)->file());
    if (!engine && engine.error().code == ErrorCode::kNotFound) continue;
    if (!engine) {
      diagnostics.warn("JavaScript cannot be shown",
                       fmt::format("{}: {}", region->path, engine.error().message));
      continue;
    }
    if (!(*engine)->layout.is_known_version()) {
      diagnostics.warn("V8 is newer than nodescope knows: names without lines, and not sure",
                       (*engine)->layout.versions.v8);
    }
    v8_ = std::make_unique<V8>(*engine, key, stack_and_memory_, space_);
    return;
  }
}

void ProcessView::find_exit_frames() {
  for (const Region& region : process_->map().regions()) {
    if (!region.executable || !is_node_binary(region) || region.path != process_->executable()) continue;
    v8_->exit_frames = ExitFrames::find(images_.find(region)->file());
    return;
  }
}

const Layout* ProcessView::layout() const {
  return v8_ == nullptr ? nullptr : &v8_->engine->layout;
}

const Engine* ProcessView::engine() const {
  return v8_ == nullptr ? nullptr : v8_->engine.get();
}

Heap& ProcessView::heap() {
  return v8_->heap;
}

Scripts& ProcessView::scripts() {
  return v8_->scripts;
}

Result<void> ProcessView::refresh_map(Diagnostics& diagnostics) {
  if (auto refreshed = process_->refresh_map(); !refreshed) return refreshed;
  images_.load_all(diagnostics);
  space_ = derive_code_space();
  return {};
}

void ProcessView::begin_generation() {
  memory_.forget();
  if (v8_ == nullptr) return;
  v8_->heap.forget();
  v8_->scripts.begin_generation();
  v8_->reader.begin_generation();
  v8_->async.begin_generation();
}

const std::string& ProcessView::script_name(ScriptId script) const {
  return v8_->scripts.name(script);
}

std::optional<LineColumn> ProcessView::place(ScriptId script, std::int32_t offset) {
  return v8_->scripts.place(script, offset);
}

bool ProcessView::is_node_binary(const Region& region) const {
  return v8_ != nullptr && region.has_file() && key_of(region) == v8_->binary;
}

// Anonymous memory that is or was executable.  Up to Node 20 V8 makes its code writable, and not executable,
// for the moments in which it writes to it.
std::vector<Range<Address>> ProcessView::derive_generated_code() const {
  std::vector<Range<Address>> ranges;
  for (const Region& region : process_->map().regions()) {
    if (!region.anonymous()) continue;
    if (region.executable) {
      ranges.push_back(region.range);
      continue;
    }
    for (const Range<Address>& before : generated_code_) {
      const Range<Address> still = intersection(region.range, before);
      if (still.size_bytes() != 0) ranges.push_back(still);
    }
  }
  std::vector<Range<Address>> merged;
  for (const Range<Address>& range : ranges) {
    if (!merged.empty() && merged.back().end == range.begin) {
      merged.back().end = range.end;
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

// V8 maps its builtins a second time, close to the code that it generates: places in the file tell them.
CodeSpace ProcessView::derive_code_space() {
  std::vector<CodeSpace::Area> areas;
  if (v8_ == nullptr) return {};
  generated_code_ = derive_generated_code();
  for (const Range<Address>& range : generated_code_) areas.push_back({range, CodeSpace::Kind::kGenerated});
  for (const Region& region : process_->map().regions()) {
    if (!region.executable || !is_node_binary(region)) continue;
    const Address file_begin = region.range.begin - region.offset.value;
    const Range<Address> builtins{file_begin + v8_->engine->builtins.begin.value,
                                  file_begin + v8_->engine->builtins.end.value};
    const Range<Address> here = intersection(region.range, builtins);
    if (here.size_bytes() != 0) areas.push_back({here, CodeSpace::Kind::kBuiltin});
  }
  return CodeSpace(std::move(areas), [this](Address pc) {
    const auto symbol = symbol_at(pc);
    return symbol ? std::string(symbol->name) : std::string();
  });
}

bool ProcessView::is_known_code(Range<Address> range) const {
  const Range<Address> area = space_.area(range.begin);
  return area.contains(range.begin) && range.end <= area.end;
}

std::optional<Symbol> ProcessView::symbol_at(Address pc) {
  const Region* region = process_->map().find(pc);
  Image* image = region == nullptr ? nullptr : images_.find(*region);
  if (image == nullptr) return std::nullopt;
  return image->symbol_at(region->offset + (pc - region->range.begin));
}

NativeSymbol ProcessView::resolve_at(Address pc, Diagnostics& diagnostics) {
  const Region* region = process_->map().find(pc);
  if (region == nullptr) return {};
  if (region->executable && is_generated_code_path(region->path)) {
    std::string written = written_name(pc, diagnostics);
    if (!written.empty()) return {std::move(written), {}, true};
  }
  const auto symbol = symbol_at(pc);
  return {symbol ? display_name(*symbol) : std::string(), region->path};
}

NativeSymbol ProcessView::resolve(const NativeFrame& frame, Diagnostics& diagnostics) {
  const auto symbol_of = [&](Address pc) { return resolve_at(pc, diagnostics); };
  const auto name_of = [](const NativeSymbol& symbol) -> std::string_view { return symbol.name; };
  return frame.is_return_address ? resolve_caller(frame.pc, symbol_of, name_of) : symbol_of(frame.pc);
}

CodeRegion ProcessView::find(Address pc) {
  if (space_.kind(pc) != CodeSpace::Kind::kOther) return {CodeKind::kFramed, space_.area(pc), nullptr, 0};
  const Region* region = process_->map().find(pc);
  if (region == nullptr || !region->executable) return {CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
  Image* image = images_.find(*region);
  if (image == nullptr) return {CodeKind::kNative, region->range, nullptr, 0};
  return image->region_at(pc, region->offset + (pc - region->range.begin), region->range);
}

// Code of a binary comes from its file, so that it is there when the process has ended.
std::span<const std::byte> ProcessView::code(Range<Address> range) {
  constexpr std::uint64_t kMaxBytes = 64 * 1024;
  const Region* region = process_->map().find(range.begin);
  const Image* image = region == nullptr || !region->executable ? nullptr : images_.find(*region);
  if (image != nullptr) {
    const auto content = image->content_at(region->offset + (range.begin - region->range.begin));
    if (content.size() >= range.size_bytes()) return content.first(range.size_bytes());
  }
  code_bytes_.resize(std::min(range.size_bytes(), kMaxBytes));
  const auto bytes = std::as_writable_bytes(std::span(code_bytes_));
  if (!memory_.read(range.begin, bytes)) return {};
  return bytes;
}

std::optional<Address> ProcessView::function_begin(Address pc) {
  if (space_.kind(pc) == CodeSpace::Kind::kGenerated) {
    const CodeFinder::Found* found = v8_->codes.find(pc, space_.area(pc));
    return found == nullptr ? std::nullopt : std::optional(found->code.instructions().begin);
  }
  const Region* region = process_->map().find(pc);
  const auto symbol = symbol_at(pc);
  if (region == nullptr || !symbol) return std::nullopt;
  const Image* image = images_.find(*region);
  const auto here = image->file().to_address(region->offset + (pc - region->range.begin));
  if (!here || *here < symbol->address) return std::nullopt;
  return pc - (*here - symbol->address);
}

// The thread's own data lie at the beginning, some 2 KB with glibc, then the frames of its first functions.
std::vector<std::string> ProcessView::functions_at_stack_begin(Address stack_pointer) {
  constexpr std::uint64_t kBytes = 8192;
  const Region* region = process_->map().find(stack_pointer);
  if (region == nullptr) return {};
  std::vector<std::uint64_t> words(std::min(region->range.end - stack_pointer, kBytes) /
                                   sizeof(std::uint64_t));
  const Address begin = region->range.end - words.size() * sizeof(std::uint64_t);
  if (!memory_.read(begin, std::as_writable_bytes(std::span(words)))) return {};
  std::vector<std::string> names;
  for (std::size_t i = words.size(); i-- > 0;) {
    const Address pc{words[i]};
    const Region* code = process_->map().find(pc);
    if (code == nullptr || !code->executable || !code->has_file()) continue;
    if (const auto symbol = symbol_at(pc - 1)) names.push_back(display_name(*symbol));
  }
  return names;
}

std::string ProcessView::copy_stack(Address stack_pointer) {
  const Region* region = process_->map().find(stack_pointer);
  if (region == nullptr) return {};
  std::string stack(std::min(region->range.end - stack_pointer, kMaxStackBytes), '\0');
  memory_.prefetch(std::array{Range<Address>{stack_pointer, stack_pointer + stack.size()}});
  if (!memory_.read(stack_pointer, std::as_writable_bytes(std::span(stack)))) return {};
  return stack;
}

// An inlined function has none on the stack; the one that it was inlined into is the last.
void ProcessView::add_arguments(const PhysicalFrame& physical, Frame& frame) {
  if (physical.frameless || frame.kind != FrameKind::kJs) return;
  frame.arguments = v8::read_arguments(v8_->heap, physical.frame_pointer);
  if (frame.arguments && frame.tier != Tier::kInterpreter && frame.tier != Tier::kBaseline)
    frame.arguments->sure = false;
}

bool ProcessView::read_async_callers() {
  reads_async_callers_ = v8_ != nullptr && v8_->engine->async.tells_microtasks();
  return reads_async_callers_;
}

// In V8's code the register itself; elsewhere what the thread keeps, where the binary tells.
std::optional<Address> ProcessView::root_of(const RegisterSet& registers, std::uint64_t thread_pointer) {
  const Address pc{registers.get(Register::kRip).value_or(0)};
  const auto root = registers.get(Register::kR13);
  if (root && space_.kind(pc) != CodeSpace::Kind::kOther) return Address{*root};
  if (v8_ == nullptr || !v8_->exit_frames || thread_pointer == 0) return std::nullopt;
  return v8_->exit_frames->root(memory_, thread_pointer);
}

Stack ProcessView::read_stack(const RegisterSet& registers, std::uint64_t thread_pointer) {
  const Address stack_pointer{registers.get(Register::kRsp).value_or(0)};
  const std::string copy = copy_stack(stack_pointer);
  const StackSnapshot snapshot{stack_pointer, std::as_bytes(std::span(copy))};
  const auto root = reads_async_callers_ ? root_of(registers, thread_pointer) : std::nullopt;
  Stack stack = walk(registers, snapshot, {.stands_still = true, .root = root});
  if (thread_pointer != 0 && stack.end != UnwindEnd::kRoot) continue_at_exit(stack, snapshot, thread_pointer);
  return stack;
}

Stack ProcessView::read_stack(const RegisterSet& registers, StackSnapshot snapshot) {
  return walk(registers, snapshot, {});
}

// A stack that ended in native code goes on where V8 says that the thread left JavaScript.
void ProcessView::continue_at_exit(Stack& stack, StackSnapshot snapshot, std::uint64_t thread_pointer) {
  const bool reached_js = std::ranges::any_of(
      stack.entries, [](const auto& entry) { return std::holds_alternative<Frame>(entry); });
  if (reached_js || v8_ == nullptr || !v8_->exit_frames) return;
  const auto frame_pointer = v8_->exit_frames->newest(memory_, thread_pointer);
  if (!frame_pointer || *frame_pointer < snapshot.begin) return;
  const std::uint64_t offset = *frame_pointer - snapshot.begin;
  if (offset + 2 * sizeof(std::uint64_t) > snapshot.bytes.size()) return;
  std::array<std::uint64_t, 2> saved{};  // the caller's frame pointer and the return address
  std::memcpy(saved.data(), snapshot.bytes.data() + offset, sizeof saved);
  if (space_.kind(Address{saved[1]} - 1) == CodeSpace::Kind::kOther) return;
  RegisterSet caller;
  caller.set(Register::kRbp, saved[0]);
  caller.set(Register::kRip, saved[1]);
  caller.set(Register::kRsp, frame_pointer->value + sizeof saved);
  const StackSnapshot rest{*frame_pointer + sizeof saved, snapshot.bytes.subspan(offset + sizeof saved)};
  const auto root = reads_async_callers_ ? v8_->exit_frames->root(memory_, thread_pointer) : std::nullopt;
  Stack outer = walk(caller, rest, {.at_return_address = true, .stands_still = true, .root = root});
  stack.async = std::move(outer.async);
  if (outer.runner) stack.runner = stack.entries.size() + *outer.runner;
  std::ranges::move(outer.entries, std::back_inserter(stack.entries));
  stack.end = outer.end;
  stack.has_gap = true;
}

void ProcessView::add_async_callers(Stack& stack, UnwoundFrames frames, std::size_t runner,
                                    const WalkFrom& from) {
  AsyncReader::Reading reading{.root = from.root, .stands_still = from.stands_still};
  for (std::size_t i = *stack.runner; i-- > 0 && reading.resumed == TaggedWord{};) {
    const auto* frame = std::get_if<Frame>(&stack.entries[i]);
    if (frame != nullptr && frame->kind == FrameKind::kJs && !frame->inlined) reading.resumed = frame->shared;
  }
  stack.async = v8_->async.read(frames, runner, reading);
}

Stack ProcessView::walk(const RegisterSet& registers, StackSnapshot snapshot, WalkFrom from) {
  stack_and_memory_.set_snapshot(snapshot.begin, snapshot.bytes);
  const UnwoundStack unwound = unwinder_.unwind(registers, snapshot, *this);
  Stack stack;
  stack.end = unwound.end;
  // V8's code may be called by a function that has it make its frame; native code is not.
  const bool ends_in_v8 = !unwound.pcs.empty() && space_.kind(unwound.pcs[0]) != CodeSpace::Kind::kOther;
  const std::size_t frameless =
      from.at_return_address ? 0 : count_frameless(unwound.frame_pointers, ends_in_v8 ? 2 : 1);
  const auto runner = reads_async_callers_ ? v8_->async.find_runner(unwound.pcs) : std::nullopt;
  std::size_t outside_runner = 0;
  // From the outermost on: callers tell which script a function may be of.
  for (std::size_t i = unwound.pcs.size(); i-- > 0;) {
    const Address pc = unwound.pcs[i];
    const bool is_leaf = i == 0 && !from.at_return_address;
    if (i == runner) outside_runner = stack.entries.size();
    if (space_.kind(is_leaf ? pc : pc - 1) == CodeSpace::Kind::kOther) {
      stack.entries.emplace_back(NativeFrame{pc, !is_leaf});
      continue;
    }
    const bool has_registers = !from.at_return_address && i <= frameless;
    const PhysicalFrame frame{pc,
                              unwound.frame_pointers[i],
                              i < frameless,
                              is_leaf,
                              has_registers ? &registers : nullptr,
                              from.stands_still};
    std::vector<Frame> logical = v8_->reader.read(frame);
    if (!frame.frameless) {
      for (Frame& each : logical) each.frame_pointer = frame.frame_pointer;
    }
    if (reads_arguments_) add_arguments(frame, logical.back());
    if (!logical.back().shared.is_object()) logical.back().pc = frame.is_leaf ? pc : pc - 1;
    std::ranges::move(std::views::reverse(logical), std::back_inserter(stack.entries));
  }
  std::ranges::reverse(stack.entries);
  if (runner) {
    stack.runner = stack.entries.size() - outside_runner - 1;
    add_async_callers(stack, {unwound.pcs, unwound.frame_pointers}, *runner, from);
  }
  stack_and_memory_.clear_snapshot();
  return stack;
}

}  // namespace nodescope::v8
