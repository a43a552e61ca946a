#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/selection_options.h"
#include "app/source_files.h"
#include "app/source_map_options.h"
#include "base/result.h"
#include "page/heap/session.h"

namespace nodescope::server {

struct Recording {
  std::string name;
  std::string bytes;  // a .nscope file
};

struct Recordings {
  std::vector<Recording> list;
  SourceFiles sources;
  // Instead of recordings: heap snapshots, which stay here and answer what the page asks.
  std::unique_ptr<const page::HeapSession> heap = nullptr;
};

// Heap snapshots where the files are such.
Result<Recordings> read_recordings_or_heap(const std::vector<std::string>& paths,
                                           const SelectionOptions& selection, const SourceMapOptions& maps);

// Reads profiles of any format; standard input where none is named.  A .nscope file of which all is wanted,
// and which no source map changes, stays as it is, damage included: the page reads it with the same code and
// tells the same about it.
Result<Recordings> read_recordings(const std::vector<std::string>& paths, const SelectionOptions& selection,
                                   const SourceMapOptions& maps);

// A .nscope file that this program has just written, and told about.
Result<Recordings> read_own_recording(const std::string& path);

// `profile` as a .nscope file: quickly, for a page on this machine.
Result<std::string> to_recording(const Profile& profile);

}  // namespace nodescope::server
