package import PushProtocol

/// Gives out the sender for a credential and an environment; senders are shared and long-lived.
package protocol SenderSource: Sendable {
    func sender(
        for credential: PushCredential,
        environment: PushEnvironment,
        lane: SenderLane
    ) throws -> any NotificationSender
    /// The credential is not used any more in this environment: what it is used by ends, once nothing is sent with it.
    func retire(_ credential: PushCredential, environment: PushEnvironment)
}

extension SenderSource {
    package func retire(_ credential: PushCredential, environment: PushEnvironment) {}
}

/// Pushes of different lanes never share a connection, so that none waits behind the other's.
package enum SenderLane: Hashable, Sendable, CaseIterable {
    /// Few at a time, and each is waited for.
    case urgent
    /// As many as the push service takes.
    case bulk
}
