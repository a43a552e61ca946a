#include "v8/process_view.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "binary/embedded_builtins.h"

namespace nodescope::v8 {

namespace {

// Main threads have 8 MiB of stack by default, workers 4.
constexpr std::uint64_t kMaxStackBytes = 16 << 20;

Range<Address> intersection(Range<Address> a, Range<Address> b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace

Result<std::unique_ptr<ProcessView>> ProcessView::open(pid_t pid, Diagnostics& diagnostics) {
  auto process = LiveProcess::open(pid);
  if (!process) return std::unexpected(process.error());
  auto binary = find_node_binary(*process);
  if (!binary) return std::unexpected(binary.error());
  auto layout = Layout::build(binary->elf.file());
  if (!layout) return fail(layout.error(), binary->path);
  if (!layout->is_known_version()) {
    diagnostics.warn("V8 is newer than nodescope knows: names without lines, and not sure",
                     layout->versions.v8);
  }
  const ElfFile& file = binary->elf.file();
  const auto builtins = find_embedded_builtins(file);
  if (!builtins) return fail(ErrorCode::kUnsupported, binary->path + ": V8's builtins were not found");
  const auto begin = file.to_offset(builtins->begin);
  if (!begin) return fail(ErrorCode::kUnsupported, binary->path + ": V8's builtins are not in the file");
  const Range<FileOffset> offsets{*begin, *begin + builtins->size_bytes()};
  std::unique_ptr<ProcessView> view(
      new ProcessView(std::move(*process), std::move(*layout), offsets, std::move(*binary)));
  view->images_.load_all(diagnostics);
  for (const Region& region : view->process_.map().regions()) {
    Image* image = region.executable ? view->images_.find(region) : nullptr;
    if (image != nullptr) image->symbols();
  }
  return view;
}

ProcessView::ProcessView(LiveProcess process, Layout layout, Range<FileOffset> builtins, NodeBinary binary)
    : process_(std::move(process)),
      layout_(std::move(layout)),
      builtins_(builtins),
      node_device_(std::move(binary.device)),
      node_inode_(binary.inode),
      memory_(process_.pid()),
      images_(process_, memory_),
      heap_(memory_, layout_),
      codes_(heap_),
      reader_(heap_, space_, codes_, scripts_) {}

Result<void> ProcessView::refresh() {
  if (auto refreshed = process_.refresh_map(); !refreshed) return refreshed;
  memory_.forget();
  heap_.forget();
  codes_.forget();
  scripts_.forget();
  space_ = derive_code_space();
  return {};
}

// V8 maps its builtins a second time, close to the code that it generates: places in the file tell them.
CodeSpace ProcessView::derive_code_space() {
  std::vector<CodeSpace::Area> areas;
  for (const Region& region : process_.map().regions()) {
    if (!region.executable) continue;
    if (region.anonymous()) {
      areas.push_back({region.range, CodeSpace::Kind::kGenerated});
    } else if (region.inode == node_inode_ && region.device == node_device_) {
      const Address file_begin = region.range.begin - region.offset.value;
      const Range<Address> builtins{file_begin + builtins_.begin.value, file_begin + builtins_.end.value};
      const Range<Address> here = intersection(region.range, builtins);
      if (here.size_bytes() != 0) areas.push_back({here, CodeSpace::Kind::kBuiltin});
    }
  }
  return CodeSpace(std::move(areas), [this](Address pc) {
    const auto symbol = symbol_at(pc);
    return symbol ? std::string(symbol->name) : std::string();
  });
}

std::optional<Symbol> ProcessView::symbol_at(Address pc) {
  const Region* region = process_.map().find(pc);
  Image* image = region == nullptr ? nullptr : images_.find(*region);
  if (image == nullptr) return std::nullopt;
  const auto address = image->file().to_address(region->offset + (pc - region->range.begin));
  return address ? image->symbols().find(*address) : std::nullopt;
}

NativeSymbol ProcessView::resolve(const NativeFrame& frame) {
  const Address pc = frame.is_return_address ? frame.pc - 1 : frame.pc;
  const Region* region = process_.map().find(pc);
  if (region == nullptr) return {};
  const auto symbol = symbol_at(pc);
  return {symbol ? display_name(*symbol) : std::string(), region->path};
}

CodeRegion ProcessView::find(Address pc) {
  const Region* region = process_.map().find(pc);
  if (region == nullptr || !region->executable) return {CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
  if (space_.kind(pc) != CodeSpace::Kind::kOther) return {CodeKind::kFramed, space_.area(pc), nullptr, 0};
  // Beside builtins within one mapping the answer holds for this place only.
  Range<Address> range = region->range;
  if (region->inode == node_inode_ && region->device == node_device_) range = {pc, pc + 1};
  const Image* image = images_.find(*region);
  if (image == nullptr) return {CodeKind::kNative, range, nullptr, 0};
  const auto address = image->file().to_address(region->offset + (pc - region->range.begin));
  if (!address) return {CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
  return {CodeKind::kNative, range, &image->unwind(), pc.value - address->value};
}

std::span<const std::byte> ProcessView::code(Range<Address> range) {
  constexpr std::uint64_t kMaxBytes = 64 * 1024;
  code_bytes_.resize(std::min(range.size_bytes(), kMaxBytes));
  const auto bytes = std::as_writable_bytes(std::span(code_bytes_));
  if (!memory_.read(range.begin, bytes)) return {};
  return bytes;
}

std::optional<Address> ProcessView::function_begin(Address pc) {
  if (space_.kind(pc) == CodeSpace::Kind::kGenerated) {
    const Code* found = codes_.find(pc, space_.area(pc));
    return found == nullptr ? std::nullopt : std::optional(found->instructions().begin);
  }
  const Region* region = process_.map().find(pc);
  const auto symbol = symbol_at(pc);
  if (region == nullptr || !symbol) return std::nullopt;
  const Image* image = images_.find(*region);
  const auto here = image->file().to_address(region->offset + (pc - region->range.begin));
  if (!here || *here < symbol->address) return std::nullopt;
  return pc - (*here - symbol->address);
}

std::string ProcessView::copy_stack(Address stack_pointer) {
  const Region* region = process_.map().find(stack_pointer);
  if (region == nullptr) return {};
  std::string stack(std::min(region->range.end - stack_pointer, kMaxStackBytes), '\0');
  memory_.prefetch(std::array{Range<Address>{stack_pointer, stack_pointer + stack.size()}});
  if (!memory_.read(stack_pointer, std::as_writable_bytes(std::span(stack)))) return {};
  return stack;
}

// An inlined function has none on the stack; the one that it was inlined into is the last.
void ProcessView::add_arguments(const PhysicalFrame& physical, Frame& frame) {
  if (physical.frameless || frame.kind != FrameKind::kJs) return;
  frame.arguments = v8::read_arguments(heap_, physical.frame_pointer);
  if (frame.arguments && frame.tier != Tier::kInterpreter && frame.tier != Tier::kBaseline)
    frame.arguments->sure = false;
}

Stack ProcessView::read_stack(const RegisterSet& registers) {
  const Address stack_pointer{registers.get(Register::kRsp).value_or(0)};
  const std::string copy = copy_stack(stack_pointer);
  const UnwoundStack unwound =
      unwinder_.unwind(registers, {stack_pointer, std::as_bytes(std::span(copy))}, *this);
  Stack stack;
  stack.end = unwound.end;
  const bool frameless = unwound.pcs.size() > 1 && unwound.frame_pointers[0] == unwound.frame_pointers[1];
  for (std::size_t i = 0; i < unwound.pcs.size(); ++i) {
    const Address pc = unwound.pcs[i];
    if (space_.kind(i == 0 ? pc : pc - 1) == CodeSpace::Kind::kOther) {
      stack.entries.emplace_back(NativeFrame{pc, i != 0});
      continue;
    }
    const bool innermost_with_frame = i == (frameless ? 1u : 0u);
    const PhysicalFrame frame{pc, unwound.frame_pointers[i], frameless && i == 0, i == 0,
                              i == 0 || innermost_with_frame ? &registers : nullptr};
    std::vector<Frame> logical = reader_.read(frame);
    if (reads_arguments_) add_arguments(frame, logical.back());
    std::ranges::move(logical, std::back_inserter(stack.entries));
  }
  return stack;
}

}  // namespace nodescope::v8
