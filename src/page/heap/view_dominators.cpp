#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/flat_map.h"
#include "base/text.h"
#include "page/heap/parts.h"
#include "page/heap/views.h"

namespace nodescope::page {

namespace {

// Of the whole width: less than this is left out.
constexpr double kLeastShare = 1.0 / 2000;
// An object with this share has a box of its own, whatever others of its class are beside it.
constexpr double kOwnShare = 1.0 / 50;
constexpr std::uint32_t kDeepest = 40;
constexpr double kMaxId = 9007199254740991.0;

struct Box {
  std::vector<std::uint32_t> nodes;
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;
  std::uint32_t heap_class = 0;
  double start = 0;
  std::uint64_t retained = 0;
};

class BoxMaker {
 public:
  BoxMaker(const HeapSession& session, std::uint32_t root) : session_(session), heap_(session.heap()) {
    total_ = static_cast<double>(heap_.retained_size(root));
    add({{root}, 0, 0, heap_.classes().of_node[root], 0, heap_.retained_size(root)});
  }

  HeapDominatorsReply make() {
    // Breadth first, so that children of a box are neighbours.
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      if (boxes_[i].depth < kDeepest) add_children(static_cast<std::uint32_t>(i));
      boxes_[i].nodes = {};
    }
    reply_.total = total_;
    return std::move(reply_);
  }

 private:
  void add_children(std::uint32_t parent) {
    std::vector<Box> children;
    FlatMap<std::uint32_t, std::size_t> by_class;
    const std::uint32_t depth = boxes_[parent].depth + 1;
    for (const std::uint32_t node : boxes_[parent].nodes) {
      for (const std::uint32_t child : heap_.dominator_tree().children(node)) {
        const std::uint64_t retained = heap_.retained_size(child);
        if (retained == 0) continue;
        const std::uint32_t id = heap_.classes().of_node[child];
        if (static_cast<double>(retained) >= kOwnShare * total_) {
          children.push_back({{child}, parent, depth, id, 0, retained});
          continue;
        }
        const auto [known, is_new] = by_class.try_emplace(id, children.size());
        if (is_new) children.push_back({{}, parent, depth, id, 0, 0});
        Box& box = children[known->second];
        box.nodes.push_back(child);
        box.retained += retained;
      }
    }
    std::ranges::stable_sort(children, std::greater<>(), &Box::retained);
    double at = boxes_[parent].start;
    for (Box& child : children) {
      if (static_cast<double>(child.retained) < kLeastShare * total_) break;
      child.start = at;
      at += static_cast<double>(child.retained);
      add(std::move(child));
    }
  }

  void add(Box box) {
    const std::uint32_t first = box.nodes.front();
    const bool is_one = box.nodes.size() == 1;
    reply_.labels.push_back(
        is_one ? object_label(session_, first)
               : fmt::format("{} × {}", heap_.class_name(first), with_thousands(box.nodes.size())));
    reply_.parent.push_back(box.parent);
    reply_.depth.push_back(box.depth);
    reply_.heap_class.push_back(box.heap_class);
    reply_.id.push_back(is_one ? static_cast<double>(session_.graph().ids[first]) : 0);
    reply_.objects.push_back(static_cast<double>(box.nodes.size()));
    reply_.start.push_back(box.start);
    reply_.retained.push_back(static_cast<double>(box.retained));
    if (session_.diff() != nullptr) {
      if (!reply_.fresh) reply_.fresh.emplace();
      double fresh = 0;
      for (const std::uint32_t node : box.nodes) fresh += static_cast<double>(session_.new_bytes(node));
      reply_.fresh->push_back(fresh);
    }
    boxes_.push_back(std::move(box));
  }

  const HeapSession& session_;
  const HeapAnalysis& heap_;
  double total_ = 0;
  std::vector<Box> boxes_;
  HeapDominatorsReply reply_;
};

}  // namespace

Result<HeapDominatorsReply> answer_heap_dominators(const HeapSession& session, const Query& query) {
  std::optional<std::uint32_t> root = session.graph().root;
  if (!query.text("id").empty()) {
    const auto id = query.number("id", 0, 0, kMaxId);
    if (!id) return std::unexpected(id.error());
    root = session.find(static_cast<std::uint64_t>(*id));
  }
  if (!root)
    return fail(ErrorCode::kNotFound,
                fmt::format("id={}: no such object in this snapshot", query.text("id")));
  return BoxMaker(session, *root).make();
}

}  // namespace nodescope::page
