# One folder of src/ is one phase and one library. The order is the data flow and the include order;
# tools/check_layers.py checks the includes themselves.

# The slowest sources are objects of their own, so that none of them is left alone at the end; so are
# those that see the public `Error`, since the engine has another of this name.
set(own_objects eval/libraries.cpp eval/kernels/reduction.cpp eval/kernels/pooling.cpp
    eval/loops/gemm.cpp api/c_compile.cpp api/fail.cpp)
list(TRANSFORM own_objects PREPEND ${PROJECT_SOURCE_DIR}/src/)

# With sanitizers, to optimise these takes a third of the whole build. Kernels run on small tensors
# there, and one fuzz target runs the others, so that it takes hardly longer without.
set(not_optimised build api kernels)

# sdx_join(variable root name): the sources in the variable, SDX_JOIN at a time as files that include
# them by their paths below the root. These name no folder of this machine, as those of CMake's unity
# builds do, so that builds in other folders find their objects in the compiler's cache. Kernels take
# most of their time to be optimised, not to be read: at most eight, so that all processors have some.
function(sdx_join variable root name)
  set(rest ${${variable}})
  list(REMOVE_ITEM rest ${own_objects})
  set(alone ${${variable}})
  list(REMOVE_ITEM alone ${rest})
  set(number 0)
  set(count ${SDX_JOIN})
  if(name STREQUAL "joined/kernels" AND CMAKE_BUILD_TYPE STREQUAL "Release" AND count GREATER 8)
    set(count 8)
  endif()
  while(rest)
    list(SUBLIST rest 0 ${count} batch)
    list(REMOVE_ITEM rest ${batch})
    list(TRANSFORM batch REPLACE "^${root}/(.*)$" "#include \"\\1\"\n")
    list(JOIN batch "" text)
    set(joined ${PROJECT_BINARY_DIR}/${name}_${number}.cpp)
    file(CONFIGURE OUTPUT ${joined} CONTENT "${text}" @ONLY)
    list(APPEND alone ${joined})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${variable} ${alone} PARENT_SCOPE)
endfunction()

# sdx_library(name source...): the sources as the library sdx_<name>.
function(sdx_library name)
  set(sources ${ARGN})
  if(SDX_JOIN)
    sdx_join(sources ${PROJECT_SOURCE_DIR}/src joined/${name})
  endif()
  add_library(sdx_${name} STATIC ${sources})
  set_property(GLOBAL APPEND PROPERTY SDX_PHASES ${name})
  target_include_directories(sdx_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(sdx_${name} PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
  if(SDX_SANITIZE AND name IN_LIST not_optimised)
    target_compile_options(sdx_${name} PRIVATE -O0)
  endif()
endfunction()

# sdx_phase(name dependency...): the .cpp files under src/<name>/ as the library sdx_<name>.
function(sdx_phase name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(name STREQUAL "eval")  # its loops and kernels are a library of their own
    list(FILTER sources EXCLUDE REGEX "/eval/(loops|kernels)/")
  endif()
  if(NOT sources)
    return()
  endif()
  sdx_library(${name} ${sources})
  foreach(dependency IN LISTS ARGN)
    target_link_libraries(sdx_${name} PUBLIC ${dependency})
  endforeach()
endfunction()

# Users get no dependency on libfmt.so: base/fmt.cpp compiles its functions, where it knows them.
sdx_phase(base)
target_link_libraries(sdx_base PUBLIC ${CMAKE_DL_LIBS})
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  target_include_directories(sdx_base SYSTEM PUBLIC
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  target_link_libraries(sdx_base PUBLIC fmt::fmt-header-only)
endif()
sdx_phase(diagnostics sdx_base)
sdx_phase(syntax sdx_diagnostics)
sdx_phase(types sdx_base)
sdx_phase(torch sdx_types)
sdx_phase(ops sdx_types)
sdx_phase(schemas sdx_ops sdx_diagnostics)
# toml++ is headers alone; only the reader of schema files sees it.
if(TARGET sdx_schemas)
  target_include_directories(sdx_schemas SYSTEM PRIVATE ${SDX_TOMLPLUSPLUS})
endif()
sdx_phase(ir sdx_types sdx_diagnostics)
sdx_phase(calls sdx_ops)
sdx_phase(infer sdx_ir sdx_calls)
sdx_phase(build sdx_infer sdx_lowering)
sdx_phase(lowering sdx_ir)
sdx_phase(elaborate sdx_syntax sdx_infer sdx_lowering sdx_torch)
sdx_phase(lint sdx_elaborate)
sdx_phase(eval sdx_infer)
# Kernels are loops: vectorise them, which -O2 of g++ hardly does. Nobody looks at errno or at the
# floating-point exceptions, which would forbid it. The two libraries need each other: the dispatch
# table names the kernels, which work through eval/operators.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/eval/loops/*.cpp
     ${PROJECT_SOURCE_DIR}/src/eval/kernels/*.cpp)
sdx_library(kernels ${sources})
target_link_libraries(sdx_kernels PUBLIC sdx_eval)
target_link_libraries(sdx_eval PUBLIC sdx_kernels)
target_compile_options(sdx_kernels PRIVATE $<$<CONFIG:Release>:-O3>)
foreach(library sdx_eval sdx_kernels)
  target_compile_options(${library} PRIVATE -fno-math-errno -fno-trapping-math)
  # Loops that ask for vectors and cannot have them with these options of clang are scalar there.
  target_compile_options(${library} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
endforeach()
find_package(Threads REQUIRED)
target_link_libraries(sdx_eval PRIVATE Threads::Threads)
# Products of matrices. The library is loaded by the first product that is large.
find_path(SDX_ONEDNN_HEADERS oneapi/dnnl/dnnl.h)
if(SDX_ONEDNN_HEADERS)
  file(STRINGS ${SDX_ONEDNN_HEADERS}/oneapi/dnnl/dnnl_version.h onednn_version
       REGEX "define DNNL_VERSION_MAJOR [0-9]+")
  string(REGEX MATCH "[0-9]+" onednn_version "${onednn_version}")
  target_include_directories(sdx_kernels SYSTEM PRIVATE ${SDX_ONEDNN_HEADERS})
  target_compile_definitions(sdx_kernels PRIVATE SDX_ONEDNN="libdnnl.so.${onednn_version}")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/eval/libraries.cpp PROPERTIES
    COMPILE_DEFINITIONS
    "SDX_ONEDNN=\"libdnnl.so.${onednn_version}\";SDX_ONEDNN_PACKAGE=\"libdnnl${onednn_version}\"")
else()
  message(STATUS "oneDNN is missing (libdnnl-dev): products of matrices use the loops of eval/loops/gemm")
endif()
sdx_phase(eager sdx_eval)
sdx_phase(rewrite sdx_eval)
sdx_phase(proto sdx_ir sdx_ops)
# protozero is headers alone; only the sources of proto/ see it.
target_include_directories(sdx_proto SYSTEM PRIVATE ${SDX_PROTOZERO})
sdx_phase(weights sdx_proto)
sdx_phase(decompile sdx_infer sdx_syntax)
sdx_phase(models sdx_decompile sdx_weights)
sdx_phase(view sdx_ir)
sdx_phase(driver sdx_lint sdx_schemas sdx_models sdx_rewrite sdx_view)
sdx_phase(ide sdx_driver sdx_view)
sdx_phase(lsp sdx_ide)

# sdx_generated(target name tool comment): the table that tools/<tool>.py writes is a source of the
# target, alone in its object, and made again when the tool or a file that follows changes.
function(sdx_generated target name tool comment)
  set(table ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/tools/ OUTPUT_VARIABLE parts)
  add_custom_command(
    OUTPUT ${table}
    COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/${tool}.py ${table}
    DEPENDS ${PROJECT_SOURCE_DIR}/tools/${tool}.py ${parts}
    COMMENT ${comment}
    VERBATIM)
  target_sources(${target} PRIVATE ${table})
  set_property(GLOBAL APPEND PROPERTY SDX_TABLES ${table})
endfunction()

sdx_generated(sdx_ops ops_table generate_ops
  "Generating the operator tables from the installed onnx package" enumerations.py operator_docs.py)
# The normal forms and categories of code points are those of the Python that builds; their scripts
# fontTools has.
sdx_generated(sdx_syntax normal_forms_table generate_normal_forms
  "Generating the tables of Unicode's normal forms")
sdx_generated(sdx_kernels unicode_table generate_unicode
  "Generating the tables of Unicode's categories and scripts")

sdx_generated(sdx_view view_page generate_view_page
  "Generating the page of graphs" generate_pages.py ../src/view/page.html)

# The library of PyTorch's operators is in the program.
file(GLOB library CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/torch/*.py)
list(TRANSFORM library REPLACE "^${PROJECT_SOURCE_DIR}/" "../")
sdx_generated(sdx_torch torch_library generate_torch
  "Generating the table of lib/torch" ${library})

# What `sardonyx explain` and SARIF say of a code are the pages of docs/diagnostics.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/diagnostics/*.md)
list(TRANSFORM pages REPLACE "^${PROJECT_SOURCE_DIR}/" "../")
sdx_generated(sdx_diagnostics diagnostic_pages generate_pages
  "Generating the table of docs/diagnostics" ${pages})

# All of them, for tools that read the sources without compiling them.
get_property(tables GLOBAL PROPERTY SDX_TABLES)
add_custom_target(sdx_tables DEPENDS ${tables})

if(SDX_CLI)
  # Everything but main(), which a wheel has elsewhere (cmake/python.cmake).
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(SDX_JOIN)
    sdx_join(sources ${PROJECT_SOURCE_DIR}/src joined/cli)
  endif()
  add_library(sdx_cli STATIC ${sources})
  target_include_directories(sdx_cli PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(sdx_cli PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
  target_compile_definitions(sdx_cli PRIVATE SDX_VERSION="${PROJECT_VERSION}")
  target_link_libraries(sdx_cli PUBLIC sdx_driver sdx_eval sdx_lsp sdx_view sdx_models)
  if(NOT SDX_LAUNCHER)
    add_executable(sardonyx_program ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
    set_target_properties(sardonyx_program PROPERTIES OUTPUT_NAME sardonyx)
    target_link_libraries(sardonyx_program PRIVATE sdx_cli)
    # With libstdc++ inside, the program starts a third sooner: the loader need not look up thousands
    # of its names. Libraries that are opened later, such as oneDNN, are called by C interfaces alone.
    if(UNIX AND NOT APPLE AND NOT SDX_SANITIZE)
      target_link_options(sardonyx_program PRIVATE -static-libstdc++ -static-libgcc)
    endif()
  endif()
endif()

# sdx_test(phase source...): the sources as the program test_<phase>.
function(sdx_test phase)
  set(sources ${ARGN})
  if(SDX_JOIN)
    sdx_join(sources ${PROJECT_SOURCE_DIR}/tests joined_tests/${phase})
  endif()
  add_executable(test_${phase} ${sources})
  target_include_directories(test_${phase} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  # Each assertion runs once: what optimising it takes, it never gives back.
  target_compile_options(test_${phase} PRIVATE -O0)
endfunction()

if(SDX_TESTS)
  find_package(GTest REQUIRED)
  enable_testing()
  # tests/<phase>/*_test.cpp is the program test_<phase>.
  foreach(phase base diagnostics syntax types torch ops schemas ir calls infer lowering build elaborate lint eval eager rewrite proto weights decompile models view driver ide lsp)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${phase}/*_test.cpp)
    if(sources AND TARGET sdx_${phase})
      sdx_test(${phase} ${sources})
      target_link_libraries(test_${phase} PRIVATE sdx_${phase} GTest::gtest_main)
      add_test(NAME ${phase} COMMAND test_${phase})
      set_tests_properties(${phase} PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    endif()
  endforeach()
  # Parses files and prints the trees, for tests/python/language/test_syntax.py.
  add_executable(sdx_syntax_tool tests/syntax/syntax_tool.cpp)
  target_link_libraries(sdx_syntax_tool PRIVATE sdx_syntax)
  # Prints the operator tables, for tests/python/ops/test_ops.py.
  add_executable(sdx_ops_tool tests/ops/ops_tool.cpp)
  target_link_libraries(sdx_ops_tool PRIVATE sdx_ops)
  # Converts numbers, for tests/python/run/test_small_floats.py.
  add_executable(sdx_types_tool tests/types/types_tool.cpp)
  target_link_libraries(sdx_types_tool PRIVATE sdx_types)
  # Prints findings as JSON and SARIF, for tests/python/diagnostics/test_formats.py.
  add_executable(sdx_diagnostics_tool tests/diagnostics/diagnostics_tool.cpp)
  target_link_libraries(sdx_diagnostics_tool PRIVATE sdx_diagnostics)
  # Reads models and writes them back, for tests/python/models/test_proto.py.
  add_executable(sdx_proto_tool tests/proto/proto_tool.cpp)
  target_link_libraries(sdx_proto_tool PRIVATE sdx_proto)
  # Runs models on tensors in files, for tests/python/eval/test_node_cases.py.
  add_executable(sdx_eval_tool tests/eval/eval_tool.cpp)
  target_link_libraries(sdx_eval_tool PRIVATE sdx_eval sdx_proto)
  # Compiles scripts, for tests/python/language/test_language.py.
  add_executable(sdx_elaborate_tool tests/elaborate/elaborate_tool.cpp)
  target_link_libraries(sdx_elaborate_tool PRIVATE sdx_elaborate sdx_weights)
  # Prints what inference finds in .onnx files, for tests/python/infer/test_oracle.py.
  add_executable(sdx_infer_tool tests/infer/infer_tool.cpp)
  target_link_libraries(sdx_infer_tool PRIVATE sdx_proto sdx_infer)
endif()

if(SDX_FUZZ)
  # fuzz/<phase>_<what>.cpp is the program fuzz_<phase>_<what>.
  file(GLOB targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*.cpp)
  foreach(source IN LISTS targets)
    get_filename_component(target ${source} NAME_WE)
    string(REGEX MATCH "^[a-z]+" phase ${target})
    add_executable(fuzz_${target} ${source})
    target_compile_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_${target} PRIVATE sdx_${phase} sdx_proto sdx_rewrite)
  endforeach()
endif()
