# Run by CPack: the npm packages, from what was installed into the staging folder.  As esbuild does it, `nodescope` is a few lines of
# JavaScript, and the program comes with a package for its platform that npm installs beside it.
find_program(npm npm REQUIRED)
set(templates ${CPACK_NODESCOPE_SOURCE_DIR}/packaging/npm)
set(work ${CPACK_TEMPORARY_DIRECTORY}/npm)
set(staged ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
file(REMOVE_RECURSE ${work})

file(GLOB_RECURSE program ${staged}/*/bin/nodescope ${staged}/bin/nodescope)
file(GLOB_RECURSE notices ${staged}/*THIRD-PARTY-NOTICES ${staged}/*nodescope.spdx.json)
set(VERSION ${CPACK_PACKAGE_VERSION})
foreach(package nodescope linux-x64)
  configure_file(${templates}/${package}.json ${work}/${package}/package.json @ONLY)
  file(COPY ${CPACK_NODESCOPE_SOURCE_DIR}/LICENSE DESTINATION ${work}/${package})
endforeach()
file(COPY ${templates}/nodescope.js DESTINATION ${work}/nodescope/bin FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
     GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
file(COPY ${CPACK_NODESCOPE_SOURCE_DIR}/README.md DESTINATION ${work}/nodescope)
file(COPY ${program} DESTINATION ${work}/linux-x64/bin)
file(COPY ${notices} DESTINATION ${work}/linux-x64)

file(MAKE_DIRECTORY ${CPACK_PACKAGE_DIRECTORY})
set(packed "")
foreach(package nodescope linux-x64)
  execute_process(COMMAND ${npm} pack --silent --pack-destination ${CPACK_PACKAGE_DIRECTORY} WORKING_DIRECTORY ${work}/${package}
                  OUTPUT_VARIABLE name OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND packed ${CPACK_PACKAGE_DIRECTORY}/${name})
endforeach()
set(CPACK_EXTERNAL_BUILT_PACKAGES ${packed})
