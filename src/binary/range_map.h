#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "binary/address.h"

namespace nodescope {

// What is at an address when later assignments replace earlier ones.  Ranges that are cut keep their value,
// so a value that depends on where its range began must know that itself.
template <typename Value>
class RangeMap {
 public:
  struct Piece {
    Address end;
    Value value;
  };

  void assign(Range<Address> range, const Value& value) {
    if (range.size_bytes() == 0) return;
    erase(range);
    pieces_.insert_or_assign(range.begin, Piece{range.end, value});
  }

  void erase(Range<Address> range) {
    auto next = pieces_.lower_bound(range.begin);
    if (next != pieces_.begin()) {
      const auto before = std::prev(next);
      const Piece piece = before->second;
      if (piece.end > range.end) pieces_.emplace_hint(next, range.end, piece);
      if (piece.end > range.begin) before->second.end = range.begin;
    }
    while (next != pieces_.end() && next->first < range.end) {
      if (next->second.end > range.end) {
        auto node = pieces_.extract(next);
        node.key() = range.end;
        pieces_.insert(std::move(node));
        return;
      }
      next = pieces_.erase(next);
    }
  }

  // Null where nothing was assigned.
  const Value* find(Address address) const {
    const auto piece = find_piece(address);
    return piece == pieces_.end() ? nullptr : &piece->second.value;
  }

  // The addresses around this one that belong to the same assignment; empty where nothing was assigned.
  Range<Address> extent(Address address) const {
    const auto piece = find_piece(address);
    return piece == pieces_.end() ? Range<Address>{} : Range<Address>{piece->first, piece->second.end};
  }

  // Calls visit(Range<Address>, const Value&) for every piece that overlaps `range`, in order.
  template <typename Visit>
  void for_each_in(Range<Address> range, Visit visit) const {
    auto piece = pieces_.upper_bound(range.begin);
    if (piece != pieces_.begin() && std::prev(piece)->second.end > range.begin) --piece;
    for (; piece != pieces_.end() && piece->first < range.end; ++piece) {
      visit(Range<Address>{piece->first, piece->second.end}, piece->second.value);
    }
  }

  std::size_t size() const { return pieces_.size(); }

 private:
  auto find_piece(Address address) const {
    const auto next = pieces_.upper_bound(address);
    if (next == pieces_.begin()) return pieces_.end();
    const auto piece = std::prev(next);
    return address < piece->second.end ? piece : pieces_.end();
  }

  std::map<Address, Piece> pieces_;
};

}  // namespace nodescope
