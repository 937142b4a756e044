// SDX_CHECK: for our own bugs only. A mistake in a script is a diagnostic, bad bytes are a Result.
#pragma once

#include <cstdio>
#include <cstdlib>

#define SDX_CHECK(condition)                                                                     \
    do {                                                                                         \
        if (!(condition)) [[unlikely]] {                                                         \
            std::fprintf(stderr, "%s:%d: internal error: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                        \
        }                                                                                        \
    } while (false)
