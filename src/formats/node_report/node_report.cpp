#include "formats/node_report/node_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/reader.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

// A number as people write it: "1.25"; JSON's own digits and exponent.
std::string number_text(const json::Number& number) {
  std::string digits = fmt::format("{}", number.digits);
  if (number.exponent < 0) {
    const auto decimals = static_cast<std::size_t>(std::min(-number.exponent, 30));
    if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
    digits.insert(digits.size() - decimals, ".");
  } else if (number.exponent > 0) {
    digits.append(static_cast<std::size_t>(std::min(number.exponent, 30)), '0');
  }
  return (number.negative ? "-" : "") + digits;
}

class ReportReader {
 public:
  explicit ReportReader(ByteSource& source) : source_(source), reader_(source) {}

  Result<NodeReport> read() {
    auto members = reader_.object();
    while (const auto key = members.next()) read_section(*key);
    const bool any = !report_.header.empty();
    if (const auto finished = reader_.finish(report_.diagnostics, any); !finished)
      return std::unexpected(finished.error());
    if (!any) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: a diagnostic report of Node.js without a header", source_.name()));
    }
    return std::move(report_);
  }

 private:
  void read_section(std::string_view key) {
    if (key == "header") {
      read_header();
    } else if (key == "javascriptStack") {
      read_javascript_stack();
    } else if (key == "javascriptHeap") {
      read_heap();
    } else if (key == "nativeStack") {
      read_native_stack();
    } else if (key == "resourceUsage") {
      read_resources();
    } else if (key == "libuv") {
      auto elements = reader_.array();
      while (elements.next()) read_handle();
    } else if (key == "workers") {
      auto elements = reader_.array();
      while (elements.next()) ++report_.workers;
    }
  }

  // Text or number, as text; nothing for anything else.
  std::optional<std::string> read_plain() {
    switch (reader_.peek()) {
      case json::Type::kString:
        return std::string(reader_.string().value_or(""));
      case json::Type::kNumber: {
        const auto number = reader_.number();
        return number ? std::optional(number_text(*number)) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  void read_header() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      const std::string name(*key);
      if (name == "commandLine") {
        read_texts(report_.command_line);
      } else if (const auto value = read_plain()) {
        report_.header.emplace_back(name, *value);
      }
    }
  }

  void read_texts(std::vector<std::string>& texts) {
    auto elements = reader_.array();
    while (elements.next()) {
      if (const auto text = reader_.string()) texts.emplace_back(*text);
    }
  }

  void read_javascript_stack() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "message") {
        report_.message = reader_.string().value_or("");
      } else if (*key == "stack") {
        read_texts(report_.javascript_stack);
      }
    }
  }

  std::uint64_t read_bytes() {
    const auto number = reader_.number();
    return number ? number->as_count() : 0;
  }

  void read_heap() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "heapSpaces") {
        read_heap_spaces();
      } else if (reader_.peek() == json::Type::kNumber) {
        const std::string name(*key);
        report_.heap.emplace_back(name, read_bytes());
      }
    }
  }

  void read_heap_spaces() {
    auto spaces = reader_.object();
    while (const auto name = spaces.next()) {
      NodeReport::HeapSpace space;
      space.name = *name;
      auto members = reader_.object();
      while (const auto key = members.next()) {
        if (*key == "used") {
          space.used = read_bytes();
        } else if (*key == "committedMemory") {
          space.committed = read_bytes();
        }
      }
      report_.heap_spaces.push_back(std::move(space));
    }
  }

  void read_native_stack() {
    auto elements = reader_.array();
    while (elements.next()) {
      NodeReport::NativeFrame frame;
      auto members = reader_.object();
      while (const auto key = members.next()) {
        if (*key == "pc") {
          frame.pc = reader_.string().value_or("");
        } else if (*key == "symbol") {
          frame.symbol = reader_.string().value_or("");
        }
      }
      report_.native_stack.push_back(std::move(frame));
    }
  }

  void read_resources() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      const std::string name(*key);
      if (const auto value = read_plain()) report_.resources.emplace_back(name, *value);
    }
  }

  void read_handle() {
    NodeReport::Handle handle;
    auto members = reader_.object();
    while (const auto key = members.next()) read_handle_member(handle, *key);
    if (!reader_.failed() && handle.type != "loop") report_.handles.push_back(std::move(handle));
  }

  void read_handle_member(NodeReport::Handle& handle, std::string_view key) {
    if (key == "type") {
      handle.type = reader_.string().value_or("");
    } else if (key == "is_active") {
      handle.is_active = reader_.boolean().value_or(false);
    } else if (key == "is_referenced") {
      handle.is_referenced = reader_.boolean().value_or(false);
    } else if (key == "localEndpoint") {
      handle.local = read_endpoint();
    } else if (key == "remoteEndpoint") {
      handle.remote = read_endpoint();
    } else if (key == "fd") {
      if (const auto number = reader_.number()) handle.file_descriptor = number->rounded();
    } else if (key == "firesInMsFromNow") {
      if (const auto number = reader_.number()) handle.fires_in_ms = number->rounded();
    } else if (key == "filename" || key == "pid" || key == "signum") {
      handle.text = read_plain().value_or("");
    } else if (key == "loopIdleTimeSeconds") {
      if (const auto number = reader_.number())
        report_.loop_idle_seconds = static_cast<double>(number->scaled(kMilliDecimals)) / 1000;
    }
  }

  // Of a socket an object, of a pipe its path.
  std::string read_endpoint() {
    if (reader_.peek() != json::Type::kObject) return read_plain().value_or("");
    std::string host;
    std::string address;
    std::string port;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "host") {
        host = reader_.string().value_or("");
      } else if (*key == "ip4" || *key == "ip6") {
        address = reader_.string().value_or("");
      } else if (*key == "port") {
        port = read_plain().value_or("");
      }
    }
    return fmt::format("{}:{}", address.empty() ? host : address, port);
  }

  static constexpr int kMilliDecimals = 3;

  ByteSource& source_;
  json::Reader reader_;
  NodeReport report_;
};

}  // namespace

std::string_view NodeReport::header_value(std::string_view name) const {
  const auto found =
      std::ranges::find(header, name, [](const auto& entry) { return std::string_view(entry.first); });
  return found == header.end() ? std::string_view() : std::string_view(found->second);
}

bool is_node_report(std::string_view head) {
  return json::outline_of(head).has("header.reportVersion");
}

Result<NodeReport> read_node_report(ByteSource& source) {
  return ReportReader(source).read();
}

}  // namespace nodescope
