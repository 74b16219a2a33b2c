package import PushTypes

/// Gives out the sender for a credential and an environment; senders are shared and long-lived.
package protocol SenderSource: Sendable {
    /// Returns the sender of an app, which it shares with none: an app whose pushes have no answers fills only its own.
    func sender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment,
        lane: SenderLane
    ) throws -> any NotificationSender
    /// Ends an app's senders with a credential that it does not use any more, once nothing is sent with them.
    func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment)
}

extension SenderSource {
    package func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment) {}
}

/// Pushes of different lanes never share a connection, so that none waits behind the other's.
package enum SenderLane: Hashable, Sendable, CaseIterable {
    /// Few at a time, and each is waited for.
    case urgent
    /// As many as the push service takes.
    case bulk
}
