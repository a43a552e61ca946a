# Libraries from Debian's packages.  Static archives are named by file, because a static release must not
# pick up a shared library by accident.
find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)

function(nodescope_static_library target archive)
  find_library(${target}_archive NAMES ${archive} PATHS ${ARGN} REQUIRED)
  add_library(${target} STATIC IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${target}_archive})
endfunction()

nodescope_static_library(zstd_static libzstd.a)
nodescope_static_library(lz4_static liblz4.a)
nodescope_static_library(zlib_static libz.a)
nodescope_static_library(boost_json libboost_json.a)
nodescope_static_library(llvm_demangle libLLVMDemangle.a /usr/lib/llvm-19/lib)
find_path(LLVM_INCLUDE llvm/Demangle/Demangle.h PATHS /usr/lib/llvm-19/include REQUIRED)
set_target_properties(llvm_demangle PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${LLVM_INCLUDE})

# fmt: its headers; src/base/fmt_library.cpp compiles the rest.
find_path(FMT_INCLUDE fmt/format-inl.h REQUIRED)

add_library(protozero INTERFACE)
find_path(PROTOZERO_INCLUDE protozero/pbf_reader.hpp REQUIRED)
add_library(cli11 INTERFACE)
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
