/// Returns the version of Martlet, as in CHANGELOG.md; it ends in -dev until the version is released.
const char *martlet_build_version(void);

/// Returns the commit that the program was built from; empty if the build did not know it. The Makefile hands it over in
/// the environment variable MARTLET_COMMIT. It is in a target of its own, so that a commit compiles nothing but this.
const char *martlet_build_commit(void);
