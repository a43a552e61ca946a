# nodescope_wasm(NAME SOURCES globs…): the target NAME_wasm makes NAME.wasm in the build folder, with Debian's clang and wasi-libc.
# Exceptions are off, and no 64-bit number is cut to 32 bits by accident: the warnings are those of every build.
find_program(NODESCOPE_WASM_COMPILER clang++-19 REQUIRED)

# Only these libraries from the host's headers: the rest of that folder is for another machine.
set(wasm_include ${CMAKE_BINARY_DIR}/wasm/include)
file(MAKE_DIRECTORY ${wasm_include})
file(CREATE_LINK ${Boost_INCLUDE_DIRS}/boost ${wasm_include}/boost SYMBOLIC)
file(CREATE_LINK ${FMT_INCLUDE}/fmt ${wasm_include}/fmt SYMBOLIC)
file(CREATE_LINK ${PROTOZERO_INCLUDE}/protozero ${wasm_include}/protozero SYMBOLIC)

set(NODESCOPE_WASM_FLAGS --target=wasm32-wasi -std=c++23 -O2 -DNDEBUG -fno-exceptions -fno-rtti -mbulk-memory
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -I${PROJECT_SOURCE_DIR}/src -isystem ${wasm_include})

function(nodescope_wasm name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  list(TRANSFORM arg_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${arg_SOURCES})
  foreach(source ${sources})
    set(object ${CMAKE_BINARY_DIR}/wasm/${source}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${NODESCOPE_WASM_COMPILER} ${NODESCOPE_WASM_FLAGS} -MD -MF ${object}.d
              -c ${PROJECT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${PROJECT_SOURCE_DIR}/${source}
      DEPFILE ${object}.d
      COMMENT "Building wasm object ${source}.o"
      VERBATIM COMMAND_EXPAND_LISTS)
    list(APPEND objects ${object})
  endforeach()
  set(output ${CMAKE_BINARY_DIR}/${name}.wasm)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${NODESCOPE_WASM_COMPILER} --target=wasm32-wasi -mexec-model=reactor -O2 -Wl,--strip-all -Wl,--gc-sections
            -Wl,--max-memory=4294967296 -Wl,-z,stack-size=1048576 ${objects} -o ${output}
    DEPENDS ${objects}
    COMMENT "Linking ${name}.wasm"
    VERBATIM)
  add_custom_target(${name}_wasm ALL DEPENDS ${output})
endfunction()
