/* version - the version that the programs print and that headers in mail name. */
#ifndef CORE_BASE_VERSION_H
#define CORE_BASE_VERSION_H

#define GILLNET_VERSION "0.1.0"

#endif
