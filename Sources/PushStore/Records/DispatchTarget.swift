package import PushTypes

/// The push service as one app sees it: what shares places and back-off in the dispatcher.
package struct DispatchTarget: Hashable, Sendable {
    package var app: Int64
    /// `nil` for notifications that go to both environments.
    package var environment: PushEnvironment?

    package init(app: Int64, environment: PushEnvironment?) {
        self.app = app
        self.environment = environment
    }

    package init(_ notification: NotificationRecord) {
        self.init(app: notification.app, environment: notification.environment)
    }
}
