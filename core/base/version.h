/* version - what the programs and the headers in mail say they are. */
#ifndef CORE_BASE_VERSION_H
#define CORE_BASE_VERSION_H

#define GILLNET_VERSION "0.1.0"

#endif
