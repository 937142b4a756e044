# For `find_package(sardonyx CONFIG)`. The static library needs threads.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/sardonyx-targets.cmake)
