// What the shared library lets out: marks the classes and functions of the public interface.
#pragma once

#if defined(_WIN32)
#if defined(SDX_BUILDS_LIBRARY)
#define SDX_API __declspec(dllexport)
#else
#define SDX_API __declspec(dllimport)
#endif
#else
#define SDX_API __attribute__((visibility("default")))
#endif
