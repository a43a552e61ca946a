# Writes INPUT as an array of bytes, which takes any content, quotes and NULs too.
file(READ ${INPUT} hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
file(WRITE ${OUTPUT} "#include <string_view>
namespace nodescope {
namespace {
constexpr char kBytes[] = {${bytes}};
}  // namespace
extern const std::string_view ${VARIABLE};
const std::string_view ${VARIABLE}{kBytes, ${size}};
}  // namespace nodescope
")
