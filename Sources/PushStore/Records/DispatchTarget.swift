package import PushTypes

/// The push service as one app uses it. Notifications to the same target share slots and back-off in the dispatcher.
package struct DispatchTarget: Hashable, Sendable {
    package var app: Int64
    /// The environment; `nil` for notifications that go to both.
    package var environment: PushEnvironment?

    package init(app: Int64, environment: PushEnvironment?) {
        self.app = app
        self.environment = environment
    }

    /// Returns the target of a notification.
    package init(_ notification: NotificationRecord) {
        self.init(app: notification.app, environment: notification.environment)
    }
}
