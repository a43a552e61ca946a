# The page: ui/ and the engine become one HTML file, which is embedded in nodescope_app, compressed.
#
# Every build folder asks for the page, but it is built once for one state of its inputs: cmake/BuildPage.cmake keeps the newest
# in build/page.  Nothing is downloaded here; ui/node_modules comes from `npm ci --prefix ui`, which ./nodescope and ./test run.
set(page ${CMAKE_BINARY_DIR}/page.html.gz)
set(page_source ${CMAKE_BINARY_DIR}/assets/page.cpp)

file(GLOB_RECURSE page_inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ui/src/*)
list(FILTER page_inputs EXCLUDE REGEX "/generated\\.ts$")
file(GLOB page_settings CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ui/*.json ${PROJECT_SOURCE_DIR}/ui/*.ts ${PROJECT_SOURCE_DIR}/ui/*.html)
list(APPEND page_inputs ${page_settings})

set(engine ${CMAKE_BINARY_DIR}/engine.wasm)
list(APPEND page_inputs ${engine})

# What the engine replies is described in C++; the page is compiled with these types.
set(wire_types ${CMAKE_BINARY_DIR}/wire_types.ts)
add_executable(wire_types ${PROJECT_SOURCE_DIR}/tools/wire_types.cpp)
target_link_libraries(wire_types PRIVATE nodescope_page)
add_custom_command(OUTPUT ${wire_types} COMMAND wire_types > ${wire_types} DEPENDS wire_types VERBATIM)
list(APPEND page_inputs ${wire_types})

add_custom_command(
  OUTPUT ${page}
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DENGINE=${engine} -DTYPES=${wire_types} -DOUTPUT=${page}
          -P ${PROJECT_SOURCE_DIR}/cmake/BuildPage.cmake
  DEPENDS ${page_inputs} ${PROJECT_SOURCE_DIR}/cmake/BuildPage.cmake
  COMMENT "Building the page"
  VERBATIM)

# The bytes go into the object as they are: an array in C++ would take the compiler minutes.
file(CONFIGURE OUTPUT ${page_source} CONTENT [[
#include <string_view>
asm(R"(
  .section .rodata
  .balign 16
nodescope_page_begin:
  .incbin "@page@"
nodescope_page_end:
  .previous
)");
extern "C" {
extern const char kBegin[] asm("nodescope_page_begin");
extern const char kEnd[] asm("nodescope_page_end");
}
namespace nodescope {
extern const std::string_view kPageGzip;
const std::string_view kPageGzip{kBegin, static_cast<std::size_t>(kEnd - kBegin)};
}  // namespace nodescope
]] @ONLY)
set_source_files_properties(${page_source} PROPERTIES OBJECT_DEPENDS ${page})
target_sources(nodescope_app PRIVATE ${page_source} ${page})
