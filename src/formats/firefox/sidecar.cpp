#include "formats/firefox/sidecar.h"

#include <algorithm>

#include "formats/input.h"
#include "json/reader.h"

namespace nodescope::firefox {

namespace {

// Letters and digits of an id: breakpad writes it without dashes, in capitals and with an age behind it.
std::string plain_id(std::string_view id) {
  std::string plain;
  for (const char c : id) {
    if (c == '-') continue;
    plain += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return plain;
}

}  // namespace

std::string sidecar_path(std::string_view profile_path) {
  if (profile_path.ends_with(".gz")) profile_path.remove_suffix(3);
  if (profile_path.ends_with(".json")) profile_path.remove_suffix(5);
  return std::string(profile_path) + ".syms.json";
}

Sidecar Sidecar::find(std::string_view profile_path, const ReadOptions& options, Diagnostics& diagnostics) {
  Sidecar sidecar;
  if (options.files == nullptr) return sidecar;
  auto source = options.files->open(sidecar_path(profile_path));
  if (!source) return sidecar;
  auto content = open_content(std::move(*source));
  if (content) sidecar.read(**content, diagnostics);
  return sidecar;
}

void Sidecar::read(ByteSource& source, Diagnostics& diagnostics) {
  struct Raw {
    Symbols symbols;
    std::vector<std::uint32_t> table;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> known;
  };
  std::vector<Raw> raw;
  json::Reader reader(source);
  const auto read_table = [&](Raw& library) {
    auto entries = reader.array();
    while (entries.next()) {
      std::uint32_t text = 0;
      auto members = reader.object();
      while (const auto key = members.next()) {
        if (*key != "symbol") continue;
        const auto number = reader.number();
        text =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(number ? number->as_count() : 0, UINT32_MAX));
      }
      library.table.push_back(text);
    }
  };
  const auto read_known = [&](Raw& library) {
    auto pairs = reader.array();
    while (pairs.next()) {
      std::vector<std::uint64_t> pair;
      reader.numbers([&](const auto& number) {
        if (pair.size() < 2) pair.push_back(number ? number->as_count() : 0);
      });
      if (pair.size() == 2) library.known.emplace_back(pair[0], pair[1]);
    }
  };
  const auto read_library = [&] {
    Raw library;
    auto members = reader.object();
    while (const auto key = members.next()) {
      if (*key == "debug_id") {
        library.symbols.debug_id = plain_id(reader.string().value_or(""));
      } else if (*key == "code_id") {
        library.symbols.code_id = plain_id(reader.string().value_or(""));
      } else if (*key == "symbol_table") {
        read_table(library);
      } else if (*key == "known_addresses") {
        read_known(library);
      }
    }
    raw.push_back(std::move(library));
  };
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "string_table") {
      auto elements = reader.array();
      while (elements.next()) texts_.emplace_back(reader.string().value_or(""));
    } else if (*key == "data") {
      auto elements = reader.array();
      while (elements.next()) read_library();
    }
  }
  if (const auto finished = reader.finish(diagnostics, true); !finished)
    diagnostics.warn("the symbols beside the profile could not be read", finished.error().message);
  for (Raw& library : raw) {
    for (const auto& [address, symbol] : library.known) {
      if (symbol < library.table.size()) library.symbols.texts.try_emplace(address, library.table[symbol]);
    }
    libraries_.push_back(std::move(library.symbols));
  }
}

std::optional<std::string_view> Sidecar::symbol(std::string_view debug_id, std::string_view code_id,
                                                std::uint64_t address) const {
  const std::string debug = plain_id(debug_id);
  const std::string code = plain_id(code_id);
  for (const Symbols& library : libraries_) {
    const bool same_code = !code.empty() && library.code_id == code;
    const bool same_debug = !library.debug_id.empty() && debug.starts_with(library.debug_id);
    if (!same_code && !same_debug) continue;
    const auto found = library.texts.find(address);
    if (found == library.texts.end() || found->second >= texts_.size()) return std::nullopt;
    return texts_[found->second];
  }
  return std::nullopt;
}

}  // namespace nodescope::firefox
