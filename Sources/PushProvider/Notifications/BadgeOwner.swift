/// Under which name the store keeps a badge count.
package enum BadgeOwner {
    /// All devices of a user show the same count.
    package static func of(user: String) -> String { "user:\(user)" }
}
