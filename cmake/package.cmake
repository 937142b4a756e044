# The Debian packages that CPack makes of what is installed: `sardonyx`, the program;
# `libsardonyxX.Y`, the shared library; `libsardonyx-dev`, what builds on it.
#   cpack --config build/release/CPackConfig.cmake -B dist

set(runtime libsardonyx${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sardonyx)
set(CPACK_PACKAGE_CONTACT "Sardonyx developers <nobody@localhost>" CACHE STRING
    "The maintainer that Debian packages name")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# What is loaded when a model needs it (src/eval/libraries.cpp); Ubuntu has other names for some.
set(optional "libturbojpeg0 | libturbojpeg, libopenjp2-7, libpng16-16 | libpng16-16t64, libtiff6, \
libwebp7, zlib1g")
if(onednn_version)
  string(PREPEND optional "libdnnl${onednn_version}, ")
endif()

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME sardonyx)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "${optional}")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "compiler, checker and runner of ONNX Script\nThe program sardonyx compiles ONNX functions and \
models that are written as Python, checks them, and runs them without Python.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "${optional}")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "compiler and evaluator of ONNX Script (shared library)\nThe library compiles ONNX functions and \
models that are written as Python, checks them, and runs them without Python.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsardonyx-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "${runtime} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "compiler and evaluator of ONNX Script (development files)\nHeaders for C++ and C, the static \
library, and files for CMake and pkg-config.")

# Each package has the license where Debian looks for it.
foreach(pair IN ITEMS program:sardonyx runtime:${runtime} development:libsardonyx-dev)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright
          COMPONENT ${component})
endforeach()
include(CPack)
