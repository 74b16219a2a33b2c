package import PushTypes

/// The stop of all pushes of an app, requested by a person.
///
/// No notification of a stopped app is sent, not even an urgent one. New notifications are accepted and wait until the
/// app is resumed.
package struct AppStop: Hashable, Sendable {
    package var app: Int64
    package var since: Timestamp
    /// The reason that the person gave for the stop; `nil` for none.
    package var reason: String?
    package var by: KeyReference?

    package init(app: Int64, since: Timestamp, reason: String?, by: KeyReference?) {
        (self.app, self.since, self.reason, self.by) = (app, since, reason, by)
    }
}
