#include "app/core/walked_heap.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <thread>

namespace nodescope {

namespace {

constexpr std::array kGeneralRegisters = {
    Register::kRax, Register::kRdx, Register::kRcx, Register::kRbx, Register::kRsi,
    Register::kRdi, Register::kRbp, Register::kR8,  Register::kR9,  Register::kR10,
    Register::kR11, Register::kR12, Register::kR13, Register::kR14, Register::kR15,
};

std::vector<v8::HeapThread> heap_threads(std::span<const TargetThread> threads) {
  std::vector<v8::HeapThread> result;
  for (const TargetThread& thread : threads) {
    v8::HeapThread& entry = result.emplace_back();
    entry.tid = thread.tid;
    for (const Register which : kGeneralRegisters) {
      if (const auto value = thread.registers.get(which)) entry.registers.push_back(*value);
    }
    entry.stack_pointer = Address{thread.registers.get(Register::kRsp).value_or(0)};
    entry.thread_pointer = Address{thread.thread_pointer};
  }
  return result;
}

// A page that lies in the core file in one piece; empty: it does not.
std::span<const std::byte> borrowed(std::span<const MemoryPiece> pieces, Range<Address> range) {
  const auto next = std::ranges::upper_bound(pieces, range.begin, {},
                                             [](const MemoryPiece& piece) { return piece.range.begin; });
  if (next == pieces.begin()) return {};
  const MemoryPiece& piece = *std::prev(next);
  if (!piece.range.contains(range.begin)) return {};
  const std::uint64_t size = std::min(piece.range.end, range.end) - range.begin;
  return {piece.bytes + (range.begin - piece.range.begin), static_cast<std::size_t>(size)};
}

}  // namespace

namespace {

struct FoundHeap {
  std::vector<v8::HeapPage> pages;
  std::vector<v8::Isolate> isolates;
};

FoundHeap find_heap(CoreSession& session) {
  TargetProcess& process = session.view().process();
  FoundHeap found;
  found.pages = v8::find_heap_pages(process.memory(), process.map());
  found.isolates =
      v8::find_isolates(process.memory(), process.map(), found.pages, heap_threads(session.threads()));
  return found;
}

// A running process goes on until its collector has done what it is at.
Result<FoundHeap> find_whole_heap(CoreSession& session) {
  constexpr int kMaxAttempts = 20;
  FoundHeap found = find_heap(session);
  for (int i = 1; i < kMaxAttempts && session.core() == nullptr &&
                  std::ranges::any_of(found.isolates, &v8::Isolate::is_collecting);
       ++i) {
    session.release();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (auto held = session.hold(); !held) return std::unexpected(held.error());
    found = find_heap(session);
  }
  if (found.pages.empty())
    return fail(ErrorCode::kNotFound, session.name() + ": no heap of V8 was found in its memory");
  // Beside a whole one, what has pages but no isolate is a leftover.
  const auto is_whole = [](const v8::Isolate& isolate) { return isolate.isolate.value != 0; };
  if (std::ranges::any_of(found.isolates, is_whole)) std::erase_if(found.isolates, std::not_fn(is_whole));
  if (found.isolates.empty())
    return fail(ErrorCode::kNotFound, session.name() + ": no isolate of V8 was found in its memory");
  return found;
}

}  // namespace

Result<std::unique_ptr<WalkedHeap>> WalkedHeap::walk(CoreSession& session) {
  auto found = find_whole_heap(session);
  if (!found) return std::unexpected(found.error());
  const std::vector<v8::HeapPage>& pages = found->pages;
  TargetProcess& process = session.view().process();
  Memory& memory = process.memory();
  std::vector<v8::HeapImage::Page> image;
  std::vector<std::vector<std::byte>> copies;
  for (const v8::HeapPage& page : pages) {
    if (session.core() != nullptr) {
      const auto bytes = borrowed(session.core()->pieces(), page.range);
      if (bytes.size() < page.range.size_bytes())
        session.diagnostics().warn("pages of the heap are not whole in the core");
      image.push_back({page, bytes});
      continue;
    }
    std::vector<std::byte>& copy = copies.emplace_back(page.range.size_bytes());
    if (!memory.read(page.range.begin, copy)) copy.clear();
    image.push_back({page, copy});
  }
  const v8::Layout& layout = *session.view().layout();
  std::unique_ptr<WalkedHeap> walked(
      new WalkedHeap(std::move(image), std::move(copies), memory, layout, session.view().engine()->values));
  walked->shapes_ = std::make_unique<v8::ObjectShapes>(walked->image_, layout);
  for (v8::Isolate& isolate : found->isolates) {
    v8::HeapObjects objects = v8::HeapObjects::mark(*walked->shapes_, isolate);
    walked->isolates_.push_back({std::move(isolate), std::move(objects), nullptr});
  }
  for (IsolateObjects& each : walked->isolates_)
    each.names = std::make_unique<v8::ConstructorNames>(walked->heap_, each.objects);
  return walked;
}

}  // namespace nodescope
