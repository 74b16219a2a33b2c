package import PushTypes

/// The stop of all pushes of an app, requested by a person.
///
/// No notification of a stopped app is sent, even if it is urgent. New ones are accepted and wait until the stop ends.
package struct AppStop: Hashable, Sendable {
    package var app: Int64
    package var since: Timestamp
    /// The reason that the person gave for the stop, or `nil` for none.
    package var reason: String?
    package var by: KeyReference?

    package init(app: Int64, since: Timestamp, reason: String?, by: KeyReference?) {
        (self.app, self.since, self.reason, self.by) = (app, since, reason, by)
    }
}
