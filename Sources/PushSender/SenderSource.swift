package import PushProtocol

/// Gives out the sender for a credential and an environment; senders are shared and long-lived.
package protocol SenderSource: Sendable {
    func sender(for key: ProviderKey, environment: PushEnvironment) throws -> any NotificationSender
}
