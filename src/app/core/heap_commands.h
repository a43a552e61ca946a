#pragma once

#include <string>

#include "app/core/session.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

struct HeapCommandOptions {
  bool json = false;
  bool all = false;       // every row
  bool by_shape = false;  // objects of a class by their properties
};

// The objects by class, live and dead; with a name the instances of that class.
Result<void> write_objects(CoreSession& session, const std::string& name, const HeapCommandOptions& options,
                           ByteSink& sink);

// What refers to an object, and a way on which it is reached.
Result<void> write_references(CoreSession& session, Address object, const HeapCommandOptions& options,
                              ByteSink& sink);

// Strings in which a regular expression is found.
Result<void> write_strings(CoreSession& session, const std::string& pattern,
                           const HeapCommandOptions& options, ByteSink& sink);

// The functions whose name has this text in it, by the number of their closures; empty: all.
Result<void> write_functions(CoreSession& session, const std::string& name, const HeapCommandOptions& options,
                             ByteSink& sink);

// The text of functions of this name.
Result<void> write_source(CoreSession& session, const std::string& function,
                          const HeapCommandOptions& options, ByteSink& sink);

}  // namespace nodescope
