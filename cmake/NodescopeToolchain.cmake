# Compiler settings that every target shares.
find_program(NODESCOPE_CCACHE ccache)
if(NODESCOPE_CCACHE)
  # Relative to the sources, so that what one clone has compiled serves every other.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${NODESCOPE_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
add_compile_options(-fno-omit-frame-pointer -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 uses builtins and functions that clang 19 calls deprecated; the headers are not ours to change.
  add_compile_options(-Wno-deprecated-builtins -Wno-deprecated-declarations -Wreserved-identifier)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns wrongly about moved-from std::expected and std::optional storage.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  string(REPLACE "-O2 -g -DNDEBUG" "-O1 -g1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g -DNDEBUG")
endif()

if(NODESCOPE_SANITIZE)
  add_compile_options(-fsanitize=${NODESCOPE_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NODESCOPE_SANITIZE})
endif()
if(NODESCOPE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
