#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "page/replies.h"
#include "page/wire.h"

namespace nodescope::page {

// Sizes are bytes.  An object is known by its id in the snapshot, a class by its number in the newest one.

struct HeapSnapshotInfo {
  std::string name;
  double bytes = 0;
  double objects = 0;
};
NODESCOPE_WIRE(HeapSnapshotInfo, (name, bytes, objects))

struct HeapParts {
  double code = 0;
  double strings = 0;
  double arrays = 0;
  double native = 0;
  double system = 0;
  double other = 0;
};
NODESCOPE_WIRE(HeapParts, (code, strings, arrays, native, system, other))

struct HeapAbout {
  std::vector<HeapSnapshotInfo> snapshots;  // the oldest first
  double references = 0;                    // of the newest
  HeapParts parts;                          // of the newest
  std::string sentence;                     // what leaks, or what keeps the most alive
  bool leaks = false;
  std::optional<double> object;             // that the sentence is about
  std::optional<std::uint32_t> heap_class;  // that grows
  std::vector<AboutDiagnostic> diagnostics;
};
NODESCOPE_WIRE(HeapAbout, (snapshots, references, parts, sentence, leaks, object, heap_class, diagnostics))

// Every class, largest first: by what it retains, or by how much more it retains than in the first snapshot.
struct HeapClassesReply {
  double total = 0;
  std::size_t rows_count = 0;  // before the limit
  std::vector<std::string> names;
  std::vector<std::string> held;          // where its largest object is kept; of the first rows
  std::vector<std::uint32_t> heap_class;  // kNoRow: none of it is left
  std::vector<double> count;
  std::vector<double> shallow;
  std::vector<double> retained;
  std::vector<double> distance;
  // Of a comparison with the first snapshot, by DevTools' rules.
  std::optional<std::vector<double>> before_count;
  std::optional<std::vector<double>> added;
  std::optional<std::vector<double>> removed;
  std::optional<std::vector<double>> shallow_delta;
  std::optional<std::vector<double>> retained_delta;
};
NODESCOPE_WIRE(HeapClassesReply, (total, rows_count, names, held, heap_class, count, shallow, retained,
                                  distance, before_count, added, removed, shallow_delta, retained_delta))

struct HeapObjectsReply {
  std::string name;            // of the class
  std::size_t rows_count = 0;  // of which these are some
  std::vector<std::string> labels;
  std::vector<std::string> held;
  std::vector<double> id;
  std::vector<double> shallow;
  std::vector<double> retained;
  std::vector<std::uint8_t> is_new;  // since the first snapshot
};
NODESCOPE_WIRE(HeapObjectsReply, (name, rows_count, labels, held, id, shallow, retained, is_new))

// References from an object, or to it.
struct HeapEdges {
  std::size_t rows_count = 0;
  std::vector<std::string> names;
  std::vector<std::string> labels;  // of the other object
  std::vector<double> id;
  std::vector<double> shallow;
  std::vector<double> retained;
  std::vector<std::uint8_t> is_own;  // the program's: a property, an element, a variable
  std::vector<std::uint8_t> is_new;
};
NODESCOPE_WIRE(HeapEdges, (rows_count, names, labels, id, shallow, retained, is_own, is_new))

// From a root to an object, each reached from the one before.
struct HeapPath {
  std::vector<std::string> via;  // the reference
  std::vector<std::string> labels;
  std::vector<double> id;
  std::vector<double> retained;
  std::vector<double> objects;  // of the class in question that are reached through it
  std::vector<std::uint8_t> is_own;
  std::vector<std::uint8_t> is_new;
  std::size_t left_out = 0;  // links of a long list, in the middle
};
NODESCOPE_WIRE(HeapPath, (via, labels, id, retained, objects, is_own, is_new, left_out))

struct HeapObjectReply {
  double id = 0;
  std::string label;
  std::string held;
  std::optional<std::string> text;  // of a string
  std::uint32_t heap_class = 0;
  std::string class_name;
  double shallow = 0;
  double retained = 0;
  double distance = 0;
  bool is_new = false;
  HeapPath path;
  HeapEdges properties;
  HeapEdges retainers;
  std::vector<double> dominators;  // ids from the root to it
};
NODESCOPE_WIRE(HeapObjectReply, (id, label, held, text, heap_class, class_name, shallow, retained, distance,
                                 is_new, path, properties, retainers, dominators))

// What holds the objects of a class, or the new ones where snapshots are compared.
struct HeapHolderReply {
  std::string class_name;
  std::string holder;    // "Ledger.entries (Map) ← ledger (app.js)"
  double objects = 0;    // all of them
  double through = 0;    // of them, those that are reached through the holder
  std::size_t step = 0;  // of the path, which is the holder
  HeapPath path;         // from a root to one of them
};
NODESCOPE_WIRE(HeapHolderReply, (class_name, holder, objects, through, step, path))

// Who keeps what alive, level by level; children of a box are neighbours.  Small objects of one class below
// one box are one box.
struct HeapDominatorsReply {
  double total = 0;
  std::vector<std::string> labels;
  std::vector<std::uint32_t> parent;
  std::vector<std::uint32_t> depth;
  std::vector<std::uint32_t> heap_class;
  std::vector<double> id;  // 0: several objects
  std::vector<double> objects;
  std::vector<double> start;
  std::vector<double> retained;
  std::optional<std::vector<double>> fresh;  // of that, in objects that are new since the first snapshot
};
NODESCOPE_WIRE(HeapDominatorsReply,
               (total, labels, parent, depth, heap_class, id, objects, start, retained, fresh))

}  // namespace nodescope::page
