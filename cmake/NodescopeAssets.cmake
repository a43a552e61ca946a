# nodescope_embed(TARGET VARIABLE FILE): the content of FILE as `extern const std::string_view VARIABLE` in namespace nodescope.
function(nodescope_embed target variable file)
  set(output ${CMAKE_BINARY_DIR}/assets/${variable}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${PROJECT_SOURCE_DIR}/${file} -DOUTPUT=${output} -DVARIABLE=${variable}
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedAsset.cmake
    DEPENDS ${PROJECT_SOURCE_DIR}/${file} ${PROJECT_SOURCE_DIR}/cmake/EmbedAsset.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
