/// Something in a request that is allowed and probably not meant.
package struct ContentWarning: Hashable, Sendable {
    /// The member of the request, as a path such as `localizations.de.alert`.
    package var field: String
    /// For people.
    package var message: String

    package init(field: String, message: String) {
        self.field = field
        self.message = message
    }
}
