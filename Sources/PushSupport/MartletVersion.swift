import BuildInformation

/// The version of Martlet, and the commit that it was built from.
package enum MartletVersion {
    /// The number of the release, as in CHANGELOG.md; it ends in `-dev` until the version is released.
    package static let number = String(cString: martlet_build_version())
    /// The commit; empty if the build did not know it.
    package static let commit = String(cString: martlet_build_commit())
}
