#include "build_information.h"

#ifndef MARTLET_COMMIT
#define MARTLET_COMMIT ""
#endif

const char *martlet_build_commit(void) { return MARTLET_COMMIT; }
