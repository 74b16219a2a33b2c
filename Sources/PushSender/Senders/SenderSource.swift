package import PushTypes

/// A source of the senders of apps. Senders are long-lived, and shared by all pages of an app's recipients.
package protocol SenderSource: Sendable {
    /// Returns the sender of an app. No other app uses it, so that an app without responses to its pushes blocks only
    /// itself.
    /// - Throws: An error if the credential cannot be used.
    func sender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment,
        lane: SenderLane
    ) throws -> any NotificationSender
    /// Removes an app's senders with a credential that the app no longer uses. They close their connections once
    /// nothing uses them.
    func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment)
    /// Returns a sender for one test, with a separate connection. Its pushes fail as soon as a connection cannot be
    /// opened, and have an outcome within ``SenderConfiguration/testTimeout``.
    func testSender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) throws -> any NotificationSender
    /// Returns the client that manages an app's channels. Its connection is separate, so that pushes do not wait for
    /// its requests.
    /// - Throws: An error if the credential cannot be used.
    func channels(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) throws -> any ChannelServiceClient
    /// Returns the address of an environment's push service.
    func endpoint(of environment: PushEnvironment) -> PushServiceEndpoint
    /// Returns the address to which pushes with a credential are sent. It differs from ``endpoint(of:)`` for a
    /// certificate that uses the binary protocol.
    func endpoint(of environment: PushEnvironment, for credential: PushCredential) -> PushServiceEndpoint
    /// Sets the observer of the apps' connections, which receives each failure to open one and each success.
    func observe(_ observer: @escaping AppConnectionObserver)
}

/// A function that receives the app's id, the environment, and the failure of a connection that could not be opened, or
/// `nil` if a connection was opened.
package typealias AppConnectionObserver = @Sendable (Int64, PushEnvironment, Outcome.Failure?) -> Void

extension SenderSource {
    package func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment) {}

    package func testSender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) throws -> any NotificationSender {
        try self.sender(for: credential, app: app, environment: environment, lane: .urgent)
    }

    package func endpoint(of environment: PushEnvironment) -> PushServiceEndpoint { .apple(environment) }

    package func endpoint(of environment: PushEnvironment, for credential: PushCredential) -> PushServiceEndpoint {
        self.endpoint(of: environment)
    }

    package func observe(_ observer: @escaping AppConnectionObserver) {}
}

/// A priority class of pushes. Lanes share no connections, so that neither lane waits for the other.
package enum SenderLane: Hashable, Sendable, CaseIterable {
    /// The lane for single and urgent notifications.
    case urgent
    /// The lane for campaigns, which are notifications to many recipients.
    case bulk
}
