# cmake --build … --target package: a .deb, a tar of the same files, and the two npm packages, in build/…/packages.
set(notices ${CMAKE_BINARY_DIR}/generated/THIRD-PARTY-NOTICES)
set(bill ${CMAKE_BINARY_DIR}/generated/nodescope.spdx.json)
add_custom_command(
  OUTPUT ${notices} ${bill}
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DNOTICES=${notices} -DBILL=${bill}
          -P ${CMAKE_CURRENT_LIST_DIR}/WriteNotices.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/WriteNotices.cmake ${PROJECT_SOURCE_DIR}/packaging/components ${PROJECT_SOURCE_DIR}/LICENSE
          ${PROJECT_SOURCE_DIR}/ui/package-lock.json
  VERBATIM)
add_custom_target(notices ALL DEPENDS ${notices} ${bill})
install(FILES ${notices} ${bill} ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nodescope)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nodescope RENAME copyright)

set(CPACK_PACKAGE_NAME nodescope)
set(CPACK_PACKAGE_VENDOR nodescope)
set(CPACK_PACKAGE_CONTACT "The nodescope maintainers <maintainers@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shows what Node.js processes are doing, from outside")
set(CPACK_PACKAGE_DESCRIPTION
    "CPU, event loop, waiting, heap and cores of any running Node.js process, with JavaScript, native and
kernel frames in one stack, without a flag, a restart or code loaded into it.")
set(CPACK_PACKAGE_FILE_NAME nodescope-${PROJECT_VERSION}-linux-x64)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_GENERATOR "DEB;TGZ;External")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_EXTERNAL_ENABLE_STAGING ON)
set(CPACK_EXTERNAL_PACKAGE_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/PackNpm.cmake)
set(CPACK_NODESCOPE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
include(CPack)
