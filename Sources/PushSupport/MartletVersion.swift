import BuildInformation

/// The version of Martlet, and the commit that it was built from.
package enum MartletVersion {
    /// The version as in CHANGELOG.md. It ends in `-dev` until it is released.
    package static let number = String(cString: martlet_build_version())
    /// The commit; empty if the build did not get it.
    package static let commit = String(cString: martlet_build_commit())
}
