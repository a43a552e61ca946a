#include "formats/cpuprofile/v8_call_tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace nodescope {

namespace {

// A node that is being read takes some 200 bytes, and a hostile file can nest one in every 13.
constexpr std::size_t kMaxDepth = 2'000'000;

// Up to here a column of all ids takes no more memory than a table of those that are there.
constexpr std::uint32_t kMaxIdsPerNode = 4;

enum State : std::uint8_t { kNew, kOnPath, kDone };

}  // namespace

void V8CallTree::read(json::Reader& reader, Profile& profile) {
  if (reader.peek() != json::Type::kArray) return read_from(reader, profile);
  auto elements = reader.array();
  while (elements.next()) {
    if (reader.peek() == json::Type::kObject) read_from(reader, profile);
  }
}

// One node with all that it nests.
void V8CallTree::read_from(json::Reader& reader, Profile& profile) {
  levels_.push_back(open(reader, kNoNode));
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.children) {
      if (!level.children->next()) {
        level.children.reset();
      } else if (reader.peek() == json::Type::kObject) {
        if (levels_.size() < kMaxDepth) {
          levels_.push_back(open(reader, level.node));
        } else {
          profile.diagnostics.warn("call tree: what is nested deeper than two million nodes is not read");
        }
      } else {
        links_.push_back({level.node, to_node_id(reader.number())});
      }
    } else if (const auto key = level.members.next()) {
      read_member(reader, profile, level, *key);
    } else {
      close(profile, level);
      levels_.pop_back();
    }
  }
}

V8CallTree::Level V8CallTree::open(json::Reader& reader, std::uint32_t parent) {
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back().parent = parent;
  return {reader.object(), node, std::nullopt, {}, 1};
}

void V8CallTree::read_member(json::Reader& reader, Profile& profile, Level& level, std::string_view key) {
  Node& node = nodes_[level.node];
  if (key == "id") {
    node.id = to_node_id(reader.number());
  } else if (key == "callFrame") {
    level.call_frame.read(reader, profile);
    level.first_line = 0;
  } else if (key == "hitCount" || key == "selfSize") {
    const auto number = reader.number();
    node.weight = number ? number->as_count() : 0;
  } else if (key == "selfSamplesCount") {  // before Node 0.12, where hitCount came instead
    const auto number = reader.number();
    if (node.weight == 0 && number) node.weight = number->as_count();
  } else if (key == "parent") {
    node.parent_id = to_node_id(reader.number());
  } else if (key == "children") {
    level.children = reader.array();
  } else {
    level.call_frame.read_member(reader, key, profile);
  }
}

void V8CallTree::close(Profile& profile, const Level& level) {
  Node& node = nodes_[level.node];
  node.role = role_of(profile, level.call_frame);
  node.thread = level.call_frame.thread;
  if (node.role == NodeRole::kFrame) node.frame = intern_frame(profile, level.call_frame, level.first_line);
}

void V8CallTree::append(const V8CallTree& part) {
  const auto first = static_cast<std::uint32_t>(nodes_.size());
  for (Node node : part.nodes_) {
    if (node.parent != kNoNode) node.parent += first;
    nodes_.push_back(node);
  }
  for (const Link& link : part.links_) links_.push_back({link.parent + first, link.child_id});
}

void V8CallTree::clear() {
  nodes_.clear();
  links_.clear();
  index_column_.clear();
  index_table_.clear();
}

void V8CallTree::resolve(Profile& profile) {
  link(profile.diagnostics);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].state == kNew) make_stacks_to(i, profile);
  }
}

std::uint32_t V8CallTree::find(std::uint32_t id) const {
  if (!index_column_.empty()) return id < index_column_.size() ? index_column_[id] : kNoNode;
  const auto found = index_table_.find(id);
  return found == index_table_.end() ? kNoNode : found->second;
}

void V8CallTree::index_nodes(Diagnostics& diagnostics) {
  std::uint32_t largest = 0;
  for (const Node& node : nodes_) {
    if (node.id != kNoNode) largest = std::max(largest, node.id);
  }
  if (largest / kMaxIdsPerNode <= nodes_.size()) {
    index_column_.assign(std::size_t{largest} + 1, kNoNode);
  } else {
    index_table_.reserve(nodes_.size());
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const std::uint32_t id = nodes_[i].id;
    if (id == kNoNode || add_index(id, i)) continue;
    diagnostics.warn("call tree: a node id is used twice, samples count for the first",
                     fmt::format("node {}", id));
  }
}

bool V8CallTree::add_index(std::uint32_t id, std::uint32_t node) {
  if (index_column_.empty()) return index_table_.try_emplace(id, node).second;
  if (index_column_[id] != kNoNode) return false;
  index_column_[id] = node;
  return true;
}

void V8CallTree::link(Diagnostics& diagnostics) {
  index_nodes(diagnostics);
  for (const Link& link : links_) {
    const std::uint32_t child = find(link.child_id);
    if (child == kNoNode) {
      diagnostics.warn("call tree: a child does not exist",
                       fmt::format("of node {}", nodes_[link.parent].id));
    } else if (nodes_[child].parent != kNoNode && nodes_[child].parent != link.parent) {
      diagnostics.warn("call tree: a node has two parents, the first counts",
                       fmt::format("node {}", link.child_id));
    } else {
      nodes_[child].parent = link.parent;
    }
  }
  for (Node& node : nodes_) {
    if (node.parent != kNoNode || node.parent_id == kNoNode) continue;
    node.parent = find(node.parent_id);
    if (node.parent == kNoNode) {
      diagnostics.warn("call tree: a parent does not exist", fmt::format("of node {}", node.id));
    }
  }
}

// Makes the stacks of `node` and of all its callers that have none yet.
void V8CallTree::make_stacks_to(std::uint32_t node, Profile& profile) {
  path_.clear();
  while (node != kNoNode && nodes_[node].state == kNew) {
    nodes_[node].state = kOnPath;
    path_.push_back(node);
    node = nodes_[node].parent;
  }
  if (node != kNoNode && nodes_[node].state == kOnPath) {
    profile.diagnostics.warn("call tree: a node is its own caller", fmt::format("node {}", nodes_[node].id));
    nodes_[path_.back()].parent = kNoNode;
  }
  for (; !path_.empty(); path_.pop_back()) {
    Node& made = nodes_[path_.back()];
    const Node* const caller = made.parent == kNoNode ? nullptr : &nodes_[made.parent];
    const StackId below = caller == nullptr ? kEmptyStack : caller->stack;
    made.stack = made.role == NodeRole::kFrame ? profile.stacks.push(below, made.frame) : below;
    if (made.thread == ThreadId{} && caller != nullptr) made.thread = caller->thread;
    made.state = kDone;
  }
}

}  // namespace nodescope
