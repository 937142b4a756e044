# The C++ library, and what is installed: the program and the library, or, for a wheel, the program
# alone. Users of the library say `find_package(sardonyx CONFIG)` and link `sardonyx::sardonyx`, or
# `sardonyx::sardonyx_static`, which has everything inside too; or they ask pkg-config.

sdx_phase(api sdx_driver sdx_build sdx_eager)
target_include_directories(sdx_api PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(sdx_api PRIVATE SDX_BUILDS_LIBRARY SDX_VERSION="${PROJECT_VERSION}")

if(SKBUILD)
  if(TARGET sardonyx_program)
    install(TARGETS sardonyx_program RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
  endif()
  return()
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The operators of each opset as functions of C++.
set(operators ${PROJECT_BINARY_DIR}/include/sardonyx)
add_custom_command(
  OUTPUT ${operators}/op20.h
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/generate_cpp.py ${operators}
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/generate_cpp.py
  COMMENT "Generating the operators as C++ functions from the installed onnx package"
  VERBATIM)
add_custom_target(sdx_cpp_operators ALL DEPENDS ${operators}/op20.h)

# Everything is inside; only include/sardonyx is visible from outside.
add_library(sardonyx SHARED $<TARGET_OBJECTS:sdx_api>)
add_library(sardonyx::sardonyx ALIAS sardonyx)
target_link_libraries(sardonyx PRIVATE sdx_driver sdx_build sdx_eager)
target_link_options(sardonyx PRIVATE -Wl,--exclude-libs,ALL)
target_compile_features(sardonyx INTERFACE cxx_std_20)
target_include_directories(sardonyx INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(sardonyx PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# The same as one archive, with all phases below the interface in it.
get_property(phases GLOBAL PROPERTY SDX_PHASES)
add_library(sardonyx_static STATIC)
foreach(phase IN LISTS phases)
  target_sources(sardonyx_static PRIVATE $<TARGET_OBJECTS:sdx_${phase}>)
endforeach()
add_library(sardonyx::sardonyx_static ALIAS sardonyx_static)
target_link_libraries(sardonyx_static PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_compile_features(sardonyx_static INTERFACE cxx_std_20)
target_include_directories(sardonyx_static INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

if(TARGET sardonyx_program)
  install(TARGETS sardonyx_program RUNTIME COMPONENT program)
  if(NOT CMAKE_CROSSCOMPILING)
    # What the program says of itself: the manual page, and completion for the shells.
    install(CODE "
      function(say what path)
        set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${path}\")
        get_filename_component(folder \"\${file}\" DIRECTORY)
        file(MAKE_DIRECTORY \"\${folder}\")
        message(STATUS \"Installing: \${file}\")
        execute_process(COMMAND \"$<TARGET_FILE:sardonyx_program>\" completion \${what}
                        OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
      endfunction()
      say(man ${CMAKE_INSTALL_MANDIR}/man1/sardonyx.1)
      say(bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/sardonyx)
      # Debian's zsh looks for what packages bring in a folder of its own.
      set(functions site-functions)
      if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\" AND EXISTS /etc/debian_version)
        set(functions vendor-completions)
      endif()
      say(zsh ${CMAKE_INSTALL_DATADIR}/zsh/\${functions}/_sardonyx)
      say(fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/sardonyx.fish)
    " COMPONENT program)
  endif()
endif()
install(TARGETS sardonyx sardonyx_static EXPORT sardonyx-targets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
install(DIRECTORY include/sardonyx ${operators} TYPE INCLUDE COMPONENT development)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sardonyx)
install(EXPORT sardonyx-targets FILE sardonyx-targets.cmake NAMESPACE sardonyx::
  DESTINATION ${package} COMPONENT development)
install(FILES cmake/sardonyx-config.cmake DESTINATION ${package} COMPONENT development)
configure_file(cmake/sardonyx.pc.in sardonyx.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sardonyx.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake
  DESTINATION ${package} COMPONENT development)
include(cmake/package.cmake)

if(SDX_TESTS)
  # The library from outside: nothing of src/ is in reach.
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/api/*_test.cpp)
  sdx_test(api ${sources})
  add_dependencies(test_api sdx_cpp_operators)
  target_link_libraries(test_api PRIVATE sardonyx::sardonyx GTest::gtest_main)
  add_test(NAME api COMMAND test_api)
  if(SDX_SANITIZE)
    set(sanitizers -fsanitize=${SDX_SANITIZE})
  endif()
  add_test(NAME installed COMMAND ${CMAKE_COMMAND}
    -D BUILD=${PROJECT_BINARY_DIR} -D SOURCE=${PROJECT_SOURCE_DIR}
    -D COMPILER=${CMAKE_CXX_COMPILER}
    -D LINK_FLAGS=${sanitizers}
    -P ${PROJECT_SOURCE_DIR}/tests/api/installed.cmake)
endif()
