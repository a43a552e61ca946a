#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "formats/cpuprofile/v8_call_frame.h"
#include "json/reader.h"
#include "model/profile.h"

namespace nodescope {

// V8's node ids are unsigned 32-bit numbers; anything else in a file is no node.
constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

inline std::uint32_t to_node_id(const std::optional<json::Number>& number) {
  if (!number) return kNoNode;
  const std::int64_t id = number->rounded();
  return id >= 0 && id < kNoNode ? static_cast<std::uint32_t>(id) : kNoNode;
}

// V8's call tree as a file has it: nodes with ids, linked by nesting, by lists of children or by parents, in
// any order and possibly damaged.
class V8CallTree {
 public:
  // Reads the next value: a node or an array of nodes, each with whatever it nests, without recursion.
  void read(json::Reader& reader, Profile& profile);

  // Adds the nodes of another part of the same tree; links go by id.
  void append(const V8CallTree& part);
  void clear();

  // Links the nodes and makes their stacks.  What cannot be linked, or only in a circle, becomes outermost.
  void resolve(Profile& profile);

  bool empty() const { return nodes_.empty(); }
  std::size_t size() const { return nodes_.size(); }

  // What follows is by index, after resolve().
  std::uint32_t find(std::uint32_t id) const;  // kNoNode if there is none
  NodeRole role(std::uint32_t node) const { return nodes_[node].role; }
  StackId stack(std::uint32_t node) const { return nodes_[node].stack; }
  ThreadId thread(std::uint32_t node) const { return nodes_[node].thread; }
  std::uint64_t weight(std::uint32_t node) const { return nodes_[node].weight; }

 private:
  struct Node {
    std::uint32_t id = kNoNode;
    std::uint32_t parent_id = kNoNode;
    std::uint32_t parent = kNoNode;  // the index
    FrameId frame;
    StackId stack;
    ThreadId thread;
    std::uint64_t weight = 0;  // hitCount, selfSamplesCount or selfSize
    NodeRole role = NodeRole::kFrame;
    std::uint8_t state = 0;  // of resolve()
  };
  struct Link {
    std::uint32_t parent;  // the index
    std::uint32_t child_id;
  };
  // A node whose members are being read.
  struct Level {
    json::Object members;
    std::uint32_t node;
    std::optional<json::Array> children;
    V8CallFrame call_frame;
    int first_line;  // the older form has the members of the call frame in the node and counts from 1
  };

  Level open(json::Reader& reader, std::uint32_t parent);
  void read_member(json::Reader& reader, Profile& profile, Level& level, std::string_view key);
  void close(Profile& profile, const Level& level);
  void read_from(json::Reader& reader, Profile& profile);
  void index_nodes(Diagnostics& diagnostics);
  bool add_index(std::uint32_t id, std::uint32_t node);
  void link(Diagnostics& diagnostics);
  void make_stacks_to(std::uint32_t node, Profile& profile);

  std::vector<Node> nodes_;
  std::vector<Link> links_;
  // By id.  V8 counts its nodes, so a column does; only ids that are far apart need a table.
  std::vector<std::uint32_t> index_column_;
  FlatMap<std::uint64_t, std::uint32_t> index_table_;
  std::vector<Level> levels_;        // of read_from()
  std::vector<std::uint32_t> path_;  // of make_stacks_to()
};

}  // namespace nodescope
