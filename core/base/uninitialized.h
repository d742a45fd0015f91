/*
 * uninitialized - for large local buffers in hot functions, written before they are read.
 *
 * We compile with -ftrivial-auto-var-init, which fills every local variable first. For some
 * kilobytes in a function called thousands of times a second that is most of its cost.
 */
#ifndef CORE_BASE_UNINITIALIZED_H
#define CORE_BASE_UNINITIALIZED_H

#if defined(__has_attribute)
#    if __has_attribute(uninitialized)
#        define UNINITIALIZED __attribute__((uninitialized))
#    endif
#endif
#ifndef UNINITIALIZED
#    define UNINITIALIZED
#endif

#endif
