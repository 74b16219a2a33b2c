/// The version of Martlet.
package enum MartletVersion {
    /// The number of the release, as in CHANGELOG.md.
    package static let number = "0.1.0"
}
