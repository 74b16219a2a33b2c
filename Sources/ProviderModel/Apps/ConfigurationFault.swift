/// A fault that pauses an app in an environment, because it would prevent every push, until its cause is removed.
package struct ConfigurationFault: Hashable, Sendable {
    /// The cause of a fault, which has to be removed.
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        /// A pause because the push service rejects the credential.
        case credentialRejected
        /// A pause because the push service calls every provider token too old, which means that the clocks disagree.
        case clock
        /// A pause because the credential's certificate has expired.
        case credentialExpired
        /// A pause because the stored credential cannot be used.
        case credentialUnusable
        /// A pause because the app has no credential any more.
        case credentialMissing
        /// A pause because the credential may not send to the app's topic.
        case topicDisallowed
        /// A pause because the push service's certificate is not trusted.
        case untrustedServer
        /// A pause because the push service rejects the client certificate, or requires one.
        case clientCertificateRejected
        /// A pause because the address is not that of a push service, where HTTP/2 over TLS is expected.
        case wrongProtocol
        /// A pause because the proxy opens no tunnel until a setting is changed.
        case proxy
        /// A pause because the proxy cannot be reached, or opens no tunnel at the moment.
        case proxyUnavailable
        /// A pause because the push service's name has no address.
        case unknownHost
        /// A pause because nothing listens at the push service's address.
        case refused
        /// A pause because the network has no route to the push service.
        case unreachable
        /// A pause because the push service does not answer.
        case timeout
        /// A pause because the push service closes each connection before it is open.
        case closed
        /// A pause because no connection to the push service can be opened, for another reason.
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
