package import PushTypes

/// Provides the senders of apps. Senders are long-lived and shared by all pages of an app.
package protocol SenderSource: Sendable {
    /// Returns the sender of an app, which no other app uses: an app whose pushes get no responses blocks only itself.
    func sender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment,
        lane: SenderLane
    ) throws -> any NotificationSender
    /// Removes an app's senders with a credential that it does not use any more. They drain once nothing uses them.
    func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment)
}

extension SenderSource {
    package func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment) {}
}

/// A priority class of pushes. Lanes share no connections, so that neither waits for the other.
package enum SenderLane: Hashable, Sendable, CaseIterable {
    /// Single and urgent notifications.
    case urgent
    /// Campaigns.
    case bulk
}
