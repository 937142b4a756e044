# What a build needs, looked for at once, so that one error names all that is missing.

find_package(fmt QUIET)
find_path(SDX_PROTOZERO protozero/pbf_reader.hpp)
find_path(SDX_TOMLPLUSPLUS toml++/toml.h)
find_path(SDX_NLOHMANN nlohmann/json.hpp)
set(missing)
set(packages)
macro(need found name package)
  if(NOT ${found})
    list(APPEND missing "${name}")
    list(APPEND packages ${package})
  endif()
endmacro()
need(fmt_FOUND "{fmt}" libfmt-dev)
need(SDX_PROTOZERO protozero libprotozero-dev)
need(SDX_TOMLPLUSPLUS toml++ libtomlplusplus-dev)
need(SDX_NLOHMANN "nlohmann/json" nlohmann-json3-dev)
if(SDX_CLI)
  find_path(SDX_CLI11 CLI/CLI.hpp)
  need(SDX_CLI11 CLI11 libcli11-dev)
endif()
if(missing)
  list(JOIN missing ", " missing)
  list(JOIN packages " " packages)
  message(FATAL_ERROR "The headers of ${missing} are missing. On Debian and Ubuntu: "
                      "apt install ${packages}")
endif()

find_package(Python COMPONENTS Interpreter REQUIRED)
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
          "from importlib.util import find_spec as f; exit(not (f('onnx') and f('fontTools')))"
  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
if(failed)
  message(FATAL_ERROR "The packages onnx and fonttools, from which tables are generated, are missing: "
                      "${Python_EXECUTABLE} -m pip install onnx fonttools")
endif()
