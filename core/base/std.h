/*
 * std - the headers of libc that nearly every file uses, included once.
 *
 * err.h, slice.h and buf.h include it, so a file that includes anything of gillnet has it. A file
 * includes other libc headers itself.
 */
#ifndef CORE_BASE_STD_H
#define CORE_BASE_STD_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The number of elements of an array. */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#endif
