# One binary, its man page and shell completion.  The last two are printed by the program itself, so they cannot differ from it.
include(GNUInstallDirs)
set(generated ${CMAKE_BINARY_DIR}/generated)
add_custom_command(
  OUTPUT ${generated}/nodescope.1 ${generated}/nodescope.bash ${generated}/nodescope.zsh ${generated}/nodescope.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
  COMMAND nodescope man > ${generated}/nodescope.1
  COMMAND nodescope completion bash > ${generated}/nodescope.bash
  COMMAND nodescope completion zsh > ${generated}/nodescope.zsh
  COMMAND nodescope completion fish > ${generated}/nodescope.fish
  DEPENDS nodescope
  VERBATIM)
add_custom_target(manual ALL DEPENDS ${generated}/nodescope.1)

install(TARGETS nodescope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${generated}/nodescope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${generated}/nodescope.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME nodescope)
install(FILES ${generated}/nodescope.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _nodescope)
install(FILES ${generated}/nodescope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
