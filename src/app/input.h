#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "formats/format.h"
#include "formats/input.h"
#include "model/profile.h"

namespace nodescope {

// "-" is standard input; a terminal there is refused, because nobody types a profile.
Result<std::unique_ptr<ByteSource>> open_input(const std::string& path);

// What is read: standard input where no file is named.
std::vector<std::string> inputs_of(const std::vector<std::string>& paths);

// What people call these inputs: the names of the files, or whole paths where two have the same name.
std::vector<std::string> display_names(const std::vector<std::string>& paths);

// "a.folded, b.folded": what to call them in a message.
std::string joined_names(const std::vector<std::string>& paths);

// Calls `work` with options that find symbols on this machine and show progress on a terminal.
void with_read_options(const ByteSource& source, const std::function<void(const ReadOptions&)>& work);

// Reads a profile of any format, then tells on standard error what was lost or doubtful.
Result<Profile> read_input(const std::string& path);
Result<Profile> read_input(std::unique_ptr<ByteSource> source);

// The same input, unpacked, with a look at how it begins: for a command that takes more than profiles.
Result<std::unique_ptr<PeekableSource>> open_content_of(const std::string& path);

// A profile without a word: for a command that shows the diagnostics itself.
Result<Profile> read_input_quietly(std::unique_ptr<ByteSource> source);

// All of them as one profile; standard input where none is named.
Result<Profile> read_inputs(const std::vector<std::string>& paths);

// Warnings and errors, a line each, on standard error.
void print_diagnostics(const Diagnostics& diagnostics, const std::string& path);

}  // namespace nodescope
