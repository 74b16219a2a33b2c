import BuildInformation

/// The version of Martlet, and the commit that it was built from.
package enum MartletVersion {
    /// The version as in CHANGELOG.md. It has the suffix `-dev` until it is released.
    package static let number = String(cString: martlet_build_version())
    /// The commit, or an empty string if it was not known at build time.
    package static let commit = String(cString: martlet_build_commit())
}
