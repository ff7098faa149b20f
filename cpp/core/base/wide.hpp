#pragma once

// Compiles a function for several vector widths and picks one at run time. Only for additions and
// comparisons element by element: there every width gives the same bits. Not with the thread
// sanitizer, which is not at work yet when the choice is made.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define BAYESMEND_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BAYESMEND_WIDE
#endif
