/// A warning about a member of a request that is allowed and probably not meant.
package struct ContentWarning: Hashable, Sendable {
    /// The member of the request, as a path such as `localizations.de.alert`.
    package var field: String
    /// The explanation for the caller.
    package var message: String
}
