# The extension `sardonyx._core` and the package around it. In the build tree the package can be
# imported from <build>/python; a wheel (scikit-build-core) takes what is installed here.

find_package(Python 3.10 COMPONENTS Interpreter Development.Module
             OPTIONAL_COMPONENTS Development.SABIModule NumPy)
if(NOT Python_Development.Module_FOUND)
  message(FATAL_ERROR "Python's headers are missing: install python3-dev, or configure with "
                      "-DSDX_PYTHON=OFF")
endif()
if(NOT Python_NumPy_FOUND)
  message(FATAL_ERROR "NumPy's headers are missing: `${Python_EXECUTABLE} -m pip install numpy`, or "
                      "configure with -DSDX_PYTHON=OFF")
endif()
execute_process(
  COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(nanobind CONFIG QUIET)
if(NOT nanobind_FOUND)
  message(FATAL_ERROR "nanobind is missing: `${Python_EXECUTABLE} -m pip install nanobind`, or "
                      "configure with -DSDX_PYTHON=OFF")
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bindings/*.cpp)
if(SDX_JOIN)
  sdx_join(sources ${PROJECT_SOURCE_DIR}/python joined_python/bindings)
endif()
# The stable ABI needs Python 3.12; before that nanobind leaves it out by itself.
# NOMINSIZE: walks over the objects of a model are a tenth faster than with -Os.
nanobind_add_module(sdx_python STABLE_ABI NB_STATIC NOMINSIZE NB_DOMAIN sardonyx NB_SUPPRESS_WARNINGS
                    ${sources})
# nanobind's own checks, which ask for the interpreter's lock at each reference, are for Debug builds.
foreach(target IN ITEMS sdx_python nanobind-static nanobind-static-abi3)
  if(TARGET ${target})
    target_compile_definitions(${target} PRIVATE $<$<CONFIG:Release>:NDEBUG>)
  endif()
endforeach()
target_include_directories(sdx_python PRIVATE ${PROJECT_SOURCE_DIR}/python)
target_include_directories(sdx_python SYSTEM PRIVATE ${Python_NumPy_INCLUDE_DIRS})
target_compile_definitions(sdx_python PRIVATE NPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION)
target_compile_options(sdx_python PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
target_link_libraries(sdx_python PRIVATE sdx_driver sdx_build sdx_eager sdx_view)
set(package ${PROJECT_BINARY_DIR}/python/sardonyx)
set_target_properties(sdx_python PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${package})

# In a wheel the program is a small one, which loads the extension: the engine is there once. What the
# extension takes from Python, the launcher has as functions that are never called.
if(SDX_LAUNCHER)
  set(launcher ${PROJECT_SOURCE_DIR}/python/launcher)
  target_sources(sdx_python PRIVATE ${launcher}/entry.cpp)
  set_source_files_properties(${launcher}/entry.cpp PROPERTIES
    COMPILE_DEFINITIONS "SDX_VERSION=\"${PROJECT_VERSION}\"")
  target_link_libraries(sdx_python PRIVATE sdx_cli)
  set(stand_ins ${PROJECT_BINARY_DIR}/generated/stand_ins.cpp)
  add_custom_command(
    OUTPUT ${stand_ins}
    COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/generate_stand_ins.py ${CMAKE_NM}
            $<TARGET_FILE:sdx_python> ${stand_ins}
    DEPENDS sdx_python ${PROJECT_SOURCE_DIR}/tools/generate_stand_ins.py
    COMMENT "Generating what the program has in place of Python"
    VERBATIM)
  add_executable(sardonyx_launcher ${launcher}/launcher.cpp ${stand_ins})
  set_target_properties(sardonyx_launcher PROPERTIES OUTPUT_NAME sardonyx ENABLE_EXPORTS ON)
  target_compile_options(sardonyx_launcher PRIVATE -Wall -Wextra -fno-exceptions -fno-rtti)
  target_compile_definitions(sardonyx_launcher PRIVATE
    SDX_EXTENSION="$<TARGET_FILE_NAME:sdx_python>" SDX_VERSION="${PROJECT_VERSION}")
  # Nothing of libstdc++ is used.
  target_link_options(sardonyx_launcher PRIVATE -Wl,--as-needed)
  target_link_libraries(sardonyx_launcher PRIVATE ${CMAKE_DL_LIBS})
endif()

# The build tree's package: the sources themselves, so that an edit is seen at once.
file(GLOB modules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/sardonyx/*.py
     ${PROJECT_SOURCE_DIR}/python/sardonyx/*.pyi ${PROJECT_SOURCE_DIR}/python/sardonyx/py.typed)
file(MAKE_DIRECTORY ${package})
foreach(module IN LISTS modules)
  get_filename_component(name ${module} NAME)
  file(CREATE_LINK ${module} ${package}/${name} SYMBOLIC)
endforeach()

# The door for PyTorch: its modules, and the library of operators in the script language.
file(GLOB torch_modules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/sardonyx/torch/*.py)
file(GLOB torch_library CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/torch/*.py)
file(MAKE_DIRECTORY ${package}/torch)
foreach(module IN LISTS torch_modules)
  get_filename_component(name ${module} NAME)
  file(CREATE_LINK ${module} ${package}/torch/${name} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/lib/torch ${package}/torch/aten SYMBOLIC)

# Schema files of other domains.
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/sardonyx/schemas ${package}/schemas SYMBOLIC)

# What editors and type checkers know of the operators and the element types.
set(stubs ${package}/_opsets.pyi ${package}/_element_types.pyi)
add_custom_command(
  OUTPUT ${stubs}
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/generate_stubs.py ${stubs}
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/generate_stubs.py
          ${PROJECT_SOURCE_DIR}/tools/operator_docs.py
          ${PROJECT_SOURCE_DIR}/tools/enumerations.py
          ${PROJECT_SOURCE_DIR}/src/types/element_types.def
  COMMENT "Generating the types of the opsets from the installed onnx package"
  VERBATIM)
add_custom_target(sdx_python_stubs DEPENDS ${stubs})
add_dependencies(sdx_python sdx_python_stubs)

if(SKBUILD)
  install(TARGETS sdx_python LIBRARY DESTINATION sardonyx)
  if(SDX_LAUNCHER)
    install(TARGETS sardonyx_launcher RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
  endif()
  install(FILES ${modules} ${stubs} DESTINATION sardonyx)
  install(FILES ${torch_modules} DESTINATION sardonyx/torch)
  install(FILES ${torch_library} DESTINATION sardonyx/torch/aten)
endif()
