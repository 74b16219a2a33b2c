/// An action of the user of a simulated phone.
package enum UserAction: Hashable, Sendable {
    /// Opens the app with a notification.
    case open(entry: Int)
    /// Clears a notification.
    case dismiss(entry: Int)
    /// Chooses an action of a notification, with a text for one that asks for it.
    case action(entry: Int, id: String, text: String?)
    /// Leaves the company's account.
    case logout
    /// Removes the app and installs it again.
    case reinstall
}
