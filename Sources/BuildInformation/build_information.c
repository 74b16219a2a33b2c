#include "build_information.h"

// The only place of the version: packages and images take it from this line (scripts/version).
// The environment variable MARTLET_VERSION replaces it in a build that tries an upgrade.
#ifndef MARTLET_VERSION
#define MARTLET_VERSION "0.2.0-dev"
#endif

#ifndef MARTLET_COMMIT
#define MARTLET_COMMIT ""
#endif

const char *martlet_build_version(void) { return MARTLET_VERSION; }

const char *martlet_build_commit(void) { return MARTLET_COMMIT; }
