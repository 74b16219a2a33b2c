/// A fault that prevents all pushes of an app in an environment, until its cause is removed.
package struct ConfigurationFault: Hashable, Sendable {
    /// The cause of a fault, which has to be removed.
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// The push service rejects the credential.
        case credentialRejected
        /// The push service calls every provider token too old: the clocks disagree.
        case clock
        /// The credential's certificate has expired.
        case credentialExpired
        /// The stored credential cannot be used.
        case credentialUnusable
        /// The app has no credential any more.
        case credentialMissing
        /// The credential may not send to the app's topic.
        case topicDisallowed
        /// The push service's certificate is not trusted.
        case untrustedServer
        /// The push service rejects the client certificate, or requires one.
        case clientCertificateRejected
        /// The address is not that of a push service.
        case wrongProtocol
        /// The proxy opens no tunnel until a setting is changed.
        case proxy
        /// The proxy cannot be reached, or opens no tunnel at the moment.
        case proxyUnavailable
        /// The push service's name has no address.
        case unknownHost
        /// Nothing listens at the push service's address.
        case refused
        /// The network has no route to the push service.
        case unreachable
        /// The push service does not answer.
        case timeout
        /// The push service closes each connection before it is open.
        case closed
        /// No connection can be opened, for another reason.
        case noConnection
    }

    package var cause: Cause
    /// The push service's reason, or the text of the error.
    package var detail: String
    /// The host that was tried; `nil` if none was.
    package var host: String?
    package var port: Int?

    package init(_ cause: Cause, detail: String, host: String? = nil, port: Int? = nil) {
        (self.cause, self.detail, self.host, self.port) = (cause, detail, host, port)
    }
}
