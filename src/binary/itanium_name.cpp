#include "binary/itanium_name.h"

#include <llvm/Demangle/ItaniumDemangle.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>

#include "base/flat_map.h"
#include "binary/demangle.h"

// LLVM parses the name into a tree, and nodes print themselves.  Its spelling is not that of GNU's demangler,
// so the nodes that differ are replaced as they are made.  A tree shares its subtrees (a name refers back to
// its own parts), so what it prints can be exponentially larger than itself; hence each node is made with the
// size and depth of what it stands for, and one that is too large fails the whole name before anything is
// printed.

namespace nodescope {

namespace {

namespace itanium = llvm::itanium_demangle;
using itanium::Node;
using itanium::NodeArray;
using llvm::itanium_demangle::OutputBuffer;

// Of the tree.  Each level takes some hundred bytes of stack to print, and template libraries nest some fifty
// levels.
constexpr std::uint32_t kMaxDepth = 1000;
// Of the parser's recursion, whose levels take more.
constexpr std::uint32_t kMaxParserDepth = 300;
// A conversion operator's type may refer to template arguments that come later.  Their size is not known when
// the reference is made: it is bounded afterwards, and a pack, which would be unfolded, is not taken.
constexpr std::uint64_t kMaxForwardBytes = 1024;
constexpr std::uint64_t kMaxBytesWithForward = 4096;

struct Extent {
  std::uint64_t bytes = 0;  // about what is printed; no less than the number of nodes visited
  std::uint32_t depth = 0;
  bool has_forward = false;

  // Saturates just above the limit, so sums and products stay far from overflow.
  void set_bytes(std::uint64_t count) { bytes = std::min<std::uint64_t>(count, kMaxDemangledBytes + 1); }

  void add(const Extent& child) {
    set_bytes(bytes + child.bytes);
    depth = std::max(depth, child.depth + 1);
    has_forward |= child.has_forward;
  }
};

// "" -> 1, "0" -> 2, "5" -> 7: the numbering of the ABI, as people count.
std::uint64_t ordinal(std::string_view count) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(count.data(), count.data() + count.size(), number);
  return count.empty() || parsed.ec != std::errc{} ? 1 : number + 2;
}

// f<int, S<int> > with GNU's space.  An empty pack at the end keeps the space away: so does GNU.
class GnuTemplateArgs final : public Node {
 public:
  GnuTemplateArgs(NodeArray arguments, Node*) : Node(KTemplateArgs), arguments_(arguments) {}

  void printLeft(OutputBuffer& out) const override {
    llvm::itanium_demangle::ScopedOverride<unsigned> greater_than_ends_list(out.GtIsGt, 0);
    if (!out.empty() && out.back() == '<') out += ' ';
    out += '<';
    bool first = true;
    bool last_is_empty = false;
    for (const Node* argument : arguments_) {
      const std::size_t before = out.getCurrentPosition();
      if (!first) out += ", ";
      const std::size_t begin = out.getCurrentPosition();
      argument->printAsOperand(out, Prec::Comma);
      last_is_empty = out.getCurrentPosition() == begin;
      if (last_is_empty) out.setCurrentPosition(before);
      last_is_empty &= !first;
      first &= out.getCurrentPosition() == before;
    }
    if (out.back() == '>' && !last_is_empty) out += ' ';
    out += '>';
  }

 private:
  NodeArray arguments_;
};

class GnuClosure final : public itanium::ClosureTypeName {
 public:
  GnuClosure(NodeArray template_parameters, const Node* requires1, NodeArray parameters,
             const Node* requires2, std::string_view count)
      : ClosureTypeName(template_parameters, requires1, parameters, requires2, count),
        template_parameters_(template_parameters),
        parameters_(parameters),
        ordinal_(ordinal(count)) {}

  void printLeft(OutputBuffer& out) const override {
    out += "{lambda";
    if (!template_parameters_.empty()) {
      out += '<';
      template_parameters_.printWithComma(out);
      out += '>';
    }
    out += '(';
    parameters_.printWithComma(out);
    out += ")#";
    out << static_cast<unsigned long long>(ordinal_);
    out += '}';
  }

 private:
  NodeArray template_parameters_;
  NodeArray parameters_;
  std::uint64_t ordinal_;
};

class GnuUnnamedType final : public itanium::UnnamedTypeName {
 public:
  explicit GnuUnnamedType(std::string_view count) : UnnamedTypeName(count), ordinal_(ordinal(count)) {}

  void printLeft(OutputBuffer& out) const override {
    out += "{unnamed type#";
    out << static_cast<unsigned long long>(ordinal_);
    out += '}';
  }

 private:
  std::uint64_t ordinal_;
};

// The string and stream types in full, in constructors and destructors.
class GnuExpandedSubstitution final : public Node {
 public:
  explicit GnuExpandedSubstitution(const itanium::SpecialSubstitution* type)
      : Node(KExpandedSpecialSubstitution), type_(type) {}

  void printLeft(OutputBuffer& out) const override {
    static_cast<const Node&>(type_).printLeft(out);
    if (!std::string_view(out).ends_with(">>")) return;
    out.setCurrentPosition(out.getCurrentPosition() - 1);
    out += " >";
  }

  std::string_view getBaseName() const override { return static_cast<const Node&>(type_).getBaseName(); }

 private:
  itanium::ExpandedSpecialSubstitution type_;
};

// What LLVM calls by another name than GNU.
std::string_view in_gnu_words(std::string_view text) {
  if (text == "std::nullptr_t") return "decltype(nullptr)";
  if (text == "thread-local wrapper routine for ") return "TLS wrapper function for ";
  if (text == "thread-local initialization routine for ") return "TLS init function for ";
  return text;
}

// Makes nodes for LLVM's parser.  It must not get a null pointer where it does not expect one, so a name that
// is too large is only marked; the parser's functions look at the mark.
class Nodes {
 public:
  // NOLINTBEGIN(readability-identifier-naming): LLVM's parser calls them by these names.

  template <typename T, typename... Arguments>
  Node* makeNode(Arguments&&... arguments) {
    Extent extent{kFixedBytes, 1, false};
    (extent.add(extent_of(arguments)), ...);
    if constexpr (std::same_as<T, itanium::ParameterPackExpansion>) {
      // Its child is printed once for each element of some pack.
      extent.set_bytes(extent.bytes * largest_pack_);
    } else if constexpr (std::same_as<T, itanium::ParameterPack>) {
      (note_pack(arguments), ...);
    } else if constexpr (std::same_as<T, itanium::ForwardTemplateReference>) {
      extent.has_forward = true;
    }
    if (extent.bytes > kMaxDemangledBytes || extent.depth > kMaxDepth) too_large_ = true;
    Node* node = make_in_gnu_style<T>(extent, std::forward<Arguments>(arguments)...);
    if constexpr (std::same_as<T, itanium::ForwardTemplateReference>) {
      forward_.push_back(static_cast<itanium::ForwardTemplateReference*>(node));
    }
    return node;
  }

  void* allocateNodeArray(std::size_t size) { return memory_.allocate(size * sizeof(Node*)); }
  // NOLINTEND(readability-identifier-naming)

  std::string_view keep(std::string_view text) {
    char* copy = static_cast<char*>(memory_.allocate(text.size(), 1));
    std::ranges::copy(text, copy);
    return {copy, text.size()};
  }

  bool too_large() const { return too_large_; }

  // To be asked of the finished tree, when all references are resolved.
  bool is_safe_to_print(const Node* root) const {
    if (too_large_) return false;
    if (forward_.empty()) return true;
    if (extent_of(root).bytes > kMaxBytesWithForward) return false;
    return std::ranges::all_of(forward_, [](const itanium::ForwardTemplateReference* reference) {
      if (reference->Ref == nullptr || reference->Ref->getKind() == Node::KParameterPack) return false;
      const Extent extent = extent_of(reference->Ref);
      return !extent.has_forward && extent.bytes <= kMaxForwardBytes;
    });
  }

 private:
  // What a node prints besides its children and texts: "decltype()", " const&".  Few nodes print more.
  static constexpr std::uint64_t kFixedBytes = 4;

  static Extent extent_of(const Node* node) {
    if (node == nullptr) return {};
    // The extent lies before the most derived object; a node has one base at offset 0.
    return *std::launder(
        reinterpret_cast<const Extent*>(reinterpret_cast<const std::byte*>(node) - kHeaderBytes));
  }
  static Extent extent_of(std::string_view text) { return {text.size(), 0, false}; }
  static Extent extent_of(NodeArray nodes) {
    Extent extent;
    for (const Node* node : nodes) {
      extent.add(extent_of(node));
    }
    return extent;
  }
  template <typename T>
  static Extent extent_of(const T&)
    requires(!std::convertible_to<T, const Node*> && !std::convertible_to<T, std::string_view>)
  {
    return {};
  }

  void note_pack(NodeArray elements) {
    largest_pack_ = std::max<std::uint64_t>(largest_pack_, elements.size());
  }

  template <typename T, typename... Arguments>
  Node* make_in_gnu_style(const Extent& extent, Arguments&&... arguments) {
    if constexpr (std::same_as<T, itanium::TemplateArgs>) {
      return construct<GnuTemplateArgs>(extent, std::forward<Arguments>(arguments)...);
    } else if constexpr (std::same_as<T, itanium::ClosureTypeName>) {
      return construct<GnuClosure>(extent, std::forward<Arguments>(arguments)...);
    } else if constexpr (std::same_as<T, itanium::UnnamedTypeName>) {
      return construct<GnuUnnamedType>(extent, std::forward<Arguments>(arguments)...);
    } else if constexpr (std::same_as<T, itanium::ExpandedSpecialSubstitution>) {
      return construct<GnuExpandedSubstitution>(extent, std::forward<Arguments>(arguments)...);
    } else if constexpr (std::same_as<T, itanium::NameType> || std::same_as<T, itanium::SpecialName>) {
      return make_words<T>(extent, std::forward<Arguments>(arguments)...);
    } else if constexpr (std::same_as<T, itanium::FunctionEncoding>) {
      return make_encoding(extent, std::forward<Arguments>(arguments)...);
    } else if constexpr (std::same_as<T, itanium::PrefixExpr>) {
      return make_prefix(extent, std::forward<Arguments>(arguments)...);
    } else {
      return construct<T>(extent, std::forward<Arguments>(arguments)...);
    }
  }

  template <typename T, typename... Rest>
  Node* make_words(const Extent& extent, std::string_view words, Rest&&... rest) {
    return construct<T>(extent, in_gnu_words(words), std::forward<Rest>(rest)...);
  }

  // A function that a local name is in, without its return type.
  template <typename... Rest>
  Node* make_encoding(const Extent& extent, const Node* return_type, Rest&&... rest) {
    Node* node = construct<itanium::FunctionEncoding>(extent, static_cast<const Node*>(nullptr),
                                                      std::forward<Rest>(rest)...);
    if (return_type != nullptr) return_types_.emplace(node, return_type);
    return node;
  }

  // &C::f, not &C::f(int); other functions in full: &(void g<int>(int)), &(C::f() const).
  template <typename Operand>
  Node* make_prefix(const Extent& extent, std::string_view kind, Operand* operand, Node::Prec precedence) {
    Node* shown = operand;
    if (kind == "&" && operand->getKind() == Node::KFunctionEncoding) {
      const auto* function = static_cast<const itanium::FunctionEncoding*>(static_cast<const Node*>(operand));
      const bool plain = function->getName()->getKind() == Node::KNestedName &&
                         function->getCVQuals() == itanium::QualNone &&
                         function->getRefQual() == itanium::FrefQualNone;
      shown = plain ? const_cast<Node*>(function->getName()) : in_full(extent, *function);
    }
    return construct<itanium::PrefixExpr>(extent, kind, shown, precedence);
  }

  Node* in_full(const Extent& extent, const itanium::FunctionEncoding& function) {
    const auto found = return_types_.find(&function);
    const Node* return_type = found != return_types_.end() ? found->second : nullptr;
    Node* full =
        construct<itanium::FunctionEncoding>(extent, return_type, function.getName(), function.getParams(),
                                             nullptr, nullptr, function.getCVQuals(), function.getRefQual());
    return construct<itanium::EnclosingExpr>(extent, "", full);
  }

  template <typename T, typename... Arguments>
  Node* construct(const Extent& extent, Arguments&&... arguments) {
    static_assert(alignof(T) <= kHeaderBytes && sizeof(Extent) <= kHeaderBytes);
    auto* block = static_cast<std::byte*>(memory_.allocate(kHeaderBytes + sizeof(T), kHeaderBytes));
    new (block) Extent(extent);
    return new (block + kHeaderBytes) T(std::forward<Arguments>(arguments)...);
  }

  static constexpr std::size_t kHeaderBytes = 16;

  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::vector<itanium::ForwardTemplateReference*> forward_;
  FlatMap<const Node*, const Node*, std::hash<const Node*>> return_types_;
  std::uint64_t largest_pack_ = 1;
  bool too_large_ = false;
};

// LLVM's parser, with its recursion bounded and GNU's "auto:1" for the parameters of a generic lambda.
class Parser : public itanium::AbstractManglingParser<Parser, Nodes> {
  using Base = itanium::AbstractManglingParser<Parser, Nodes>;

 public:
  using Base::Base;

  Node* parseType() {
    return bounded([&] { return Base::parseType(); });
  }
  Node* parseExpr() {
    return bounded([&] { return Base::parseExpr(); });
  }
  Node* parseBracedExpr() {
    return bounded([&] { return Base::parseBracedExpr(); });
  }
  Node* parseConstraintExpr() {
    return bounded([&] { return Base::parseConstraintExpr(); });
  }
  Node* parseQualifiedType() {
    return bounded([&] { return Base::parseQualifiedType(); });
  }
  Node* parseTemplateArg() {
    return bounded([&] { return Base::parseTemplateArg(); });
  }
  Node* parseName(NameState* state = nullptr) {
    return bounded([&] { return Base::parseName(state); });
  }
  Node* parseEncoding(bool parameters = true) {
    return bounded([&] { return Base::parseEncoding(parameters); });
  }

  Node* parseTemplateParam() {
    const char* begin = First;
    Node* node = Base::parseTemplateParam();
    if (node == nullptr || node->getKind() != Node::KNameType) return node;
    if (static_cast<const itanium::NameType*>(node)->getName() != "auto") return node;
    // T_ is the first, T0_ the second.
    const std::string_view count(begin + 1, static_cast<std::size_t>(First - begin) - 2);
    return make<itanium::NameType>(ASTAllocator.keep("auto:" + std::to_string(ordinal(count))));
  }

  // Like GNU's demangler when parameters are not wanted, nothing behind the function's name is looked at:
  // parameters may be of a kind that is newer than the demangler.
  std::optional<std::string> demangle() {
    if (!consumeIf("_Z")) return std::nullopt;
    const Node* name = parseEncoding(false);
    if (name == nullptr || !ASTAllocator.is_safe_to_print(name)) return std::nullopt;
    OutputBuffer out;
    name->print(out);
    const std::unique_ptr<char, decltype(&std::free)> memory(out.getBuffer(), &std::free);
    return std::string(std::string_view(out));
  }

 private:
  template <typename Parse>
  Node* bounded(Parse parse) {
    if (depth_ == kMaxParserDepth || ASTAllocator.too_large()) return nullptr;
    ++depth_;
    Node* node = parse();
    --depth_;
    return node;
  }

  std::uint32_t depth_ = 0;
};

}  // namespace

std::optional<std::string> demangle_itanium(std::string_view name) {
  return Parser(name.data(), name.data() + name.size()).demangle();
}

}  // namespace nodescope
