/// A fault that pauses an app in an environment, because it would prevent every push, until its cause is removed.
package struct ConfigurationFault: Hashable, Sendable {
    /// The cause of a fault, which has to be removed.
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// The cause of a pause: the push service rejects the credential.
        case credentialRejected
        /// The cause of a pause: clocks that disagree, so that the push service calls every provider token too old.
        case clock
        /// The cause of a pause: the credential's certificate has expired.
        case credentialExpired
        /// The cause of a pause: the stored credential cannot be used.
        case credentialUnusable
        /// The cause of a pause: the app has no credential any more.
        case credentialMissing
        /// The cause of a pause: the credential may not send to the app's topic.
        case topicDisallowed
        /// The cause of a pause: the push service's certificate is not trusted.
        case untrustedServer
        /// The cause of a pause: the push service rejects the client certificate, or requires one.
        case clientCertificateRejected
        /// The cause of a pause: the address is not that of a push service, where HTTP/2 over TLS is expected.
        case wrongProtocol
        /// The cause of a pause: the proxy opens no tunnel until a setting is changed.
        case proxy
        /// The cause of a pause: the proxy cannot be reached, or opens no tunnel at the moment.
        case proxyUnavailable
        /// The cause of a pause: the push service's name has no address.
        case unknownHost
        /// The cause of a pause: nothing listens at the push service's address.
        case refused
        /// The cause of a pause: the network has no route to the push service.
        case unreachable
        /// The cause of a pause: the push service does not answer.
        case timeout
        /// The cause of a pause: the push service closes each connection before it is open.
        case closed
        /// The cause of a pause: no connection to the push service can be opened, for another reason.
        case noConnection
    }

    package var cause: Cause
    /// The reason in the push service's response, or the text of the connection error.
    package var detail: String
    /// The host to which a connection was attempted, or `nil` if none was.
    package var host: String?
    package var port: Int?

    package init(_ cause: Cause, detail: String, host: String? = nil, port: Int? = nil) {
        (self.cause, self.detail, self.host, self.port) = (cause, detail, host, port)
    }
}
