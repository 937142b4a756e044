# Installs what is built into a folder of its own, builds examples/cpp against it as any user would,
# runs the example and compares its numbers.
#   cmake -D BUILD=... -D SOURCE=... -D COMPILER=... -D LINK_FLAGS=... -P installed.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(work ${BUILD}/installed)
file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
# The headers have no warnings where they are not those of a system.
set(warnings "-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror")
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/cpp -B ${work}/example -G Ninja
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${work}/prefix
    -DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON "-DCMAKE_CXX_FLAGS=${warnings} -Wold-style-cast"
    "-DCMAKE_EXE_LINKER_FLAGS=${LINK_FLAGS}")
run(${CMAKE_COMMAND} --build ${work}/example)
file(MAKE_DIRECTORY ${work}/run)
run(${CMAKE_COMMAND} -E chdir ${work}/run ${work}/example/example)
# x * sigmoid(x) at -1, 0 and 1, as six digits.
if(NOT output MATCHES "^-0\\.268941\n-?0\n0\\.731059\n$")
  message(FATAL_ERROR "the example printed\n${output}")
endif()
# docs/cpp.md has what it prints.
run(${work}/example/embed)
if(NOT output MATCHES "^1\n90\n[^\n]*`y`[^\n]*\n$")
  message(FATAL_ERROR "the program of docs/cpp.md printed\n${output}")
endif()
run(${work}/example/kernels)
if(NOT output MATCHES "^4\nScaled -4\nAbs 4\nerror\n$")
  message(FATAL_ERROR "examples/cpp/kernels.cpp printed\n${output}")
endif()
# Options that are left out give no warnings.
file(WRITE ${work}/options.cpp "#include <sardonyx/op20.h>
#include <sardonyx/sardonyx.h>
void options(sardonyx::Builder& b, const sardonyx::Expr& x) {
    sardonyx::op20::ArgMax(x, {.axis = 0});
    b.call({.op_type = \"Relu\", .inputs = {x}});
    b.loop({}, {x}, [](const auto&, const auto& carried) {
        return sardonyx::Builder::Step{.next = carried};
    });
    sardonyx::Model model = sardonyx::compile_text({}, {}, {.function = \"f\"});
    sardonyx::check_files({}, {.select = {\"unused-value\"}});
    model.run({}, {.seed = 3});
    model.save({}, {.external_bytes = 1024});
}
")
separate_arguments(warning_flags UNIX_COMMAND "${warnings}")
run(${COMPILER} -std=c++20 -fsyntax-only ${warning_flags} -I${work}/prefix/include
    ${work}/options.cpp)
# A model made call by call.
run(${CMAKE_COMMAND} -E chdir ${work}/run ${work}/example/transformer)
if(NOT output MATCHES "^FLOAT\\[batch, tokens, 64\\]\n384\n$")
  message(FATAL_ERROR "examples/cpp/transformer.cpp printed\n${output}")
endif()
# The C interface, on the shared and on the static library. The C compiler is of the same family:
# each family has sanitizers of its own, and a program takes those of one.
string(REGEX REPLACE "clang\\+\\+([^/]*)$" "clang\\1" c_compiler ${COMPILER})
string(REGEX REPLACE "g\\+\\+([^/]*)$" "gcc\\1" c_compiler ${c_compiler})
string(REGEX REPLACE "c\\+\\+$" "cc" c_compiler ${c_compiler})
set(c_link_flags ${LINK_FLAGS})
if(LINK_FLAGS AND c_compiler MATCHES "clang")
  string(APPEND c_link_flags " -fsanitize-link-c++-runtime -lstdc++")  # the library is C++ inside
endif()
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/c -B ${work}/c -G Ninja
    -DCMAKE_C_COMPILER=${c_compiler}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${work}/prefix
    -DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON "-DCMAKE_C_FLAGS=${warnings}"
    "-DCMAKE_EXE_LINKER_FLAGS=${c_link_flags}")
run(${CMAKE_COMMAND} --build ${work}/c)
foreach(program example example_static)
  execute_process(COMMAND ${work}/c/${program} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE complaint)
  if(status OR NOT output MATCHES "^-0\\.268941\n-?0\n0\\.731059\n$" OR NOT complaint MATCHES "`x`")
    message(FATAL_ERROR "${program} of examples/c: ${status}\n${output}${complaint}")
  endif()
endforeach()
find_program(pkg_config NAMES pkg-config pkgconf)
if(pkg_config)
  file(GLOB_RECURSE found ${work}/prefix/sardonyx.pc)
  get_filename_component(folder ${found} DIRECTORY)
  run(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} ${pkg_config} --cflags --libs sardonyx)
  string(STRIP "${output}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${COMPILER} -std=c++20 ${SOURCE}/examples/cpp/embed.cpp ${flags} ${LINK_FLAGS}
      -o ${work}/embed)
endif()
if(EXISTS ${work}/prefix/bin/sardonyx)
  run(${work}/prefix/bin/sardonyx run ${work}/run/swish.onnx x=[0.0])
  if(NOT output MATCHES "FLOAT\\[1\\]\n\\[0\\.0\\]")
    message(FATAL_ERROR "the installed program printed\n${output}")
  endif()
endif()
