// Clones of a function for the instruction sets that processors may have; the best one that runs
// is chosen when the program is loaded. The body must be a loop that the compiler vectorises.
#pragma once

// The choice needs a dynamic linker with indirect functions (glibc), and runs too early for the
// sanitizers. clang cannot clone templates.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SDX_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SDX_CLONES
#endif
