/*
 * prior - the weights that gillnet comes with, made from public mail.
 *
 * A file of at most PRIOR_BYTES: a header, the windows of ham, then for each term with a weight the
 * distance of its hash from the last one in LEB128 and the weight as a signed byte. The smallest
 * weights are left out. Made by `gillnet train --prior FILE`.
 * Threads: pure.   Depends: base.
 */
#ifndef CORE_LEARN_PRIOR_H
#define CORE_LEARN_PRIOR_H

#include "core/base/file.h"
#include "core/learn/model.h"

enum { PRIOR_BYTES = 512 << 10, PRIOR_VERSION = 1 };

/* The file of model.prior: a relative path is below the prefix (core/base/prefix.h). ERR_LIMIT. */
enum err prior_path(char dst[FILE_PATH_MAX], const char *path, struct errinfo *reterr);
/* Reads the file into m: prior, prior_unit, and the prior windows of each kind. ERR_CORRUPT.
 * ERR_VERSION: made for other terms. */
enum err prior_read(const char *path, struct model_data *m, struct errinfo *reterr);
/* Writes the weights and windows of m, as they were learnt, as a prior. */
enum err prior_write(const char *path, const struct model_data *m,
                     struct errinfo *reterr);

#endif
