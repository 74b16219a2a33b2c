package import PushTypes

/// The switch by which a person stops everything of an app.
///
/// Nothing of a stopped app is sent, urgent or not, until it is resumed. Its notifications are accepted and wait.
package struct AppStop: Hashable, Sendable {
    package var app: Int64
    package var since: Timestamp
    /// The words of the person.
    package var reason: String?
    package var by: KeyReference?

    package init(app: Int64, since: Timestamp, reason: String?, by: KeyReference?) {
        (self.app, self.since, self.reason, self.by) = (app, since, reason, by)
    }
}
