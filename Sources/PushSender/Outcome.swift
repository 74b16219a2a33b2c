public import PushTypes

/// The result of one push. Every push has exactly one outcome.
public enum Outcome: Hashable, Sendable {
    /// The outcome of a push that the push service accepted. It does not report whether the notification is delivered.
    case accepted(Accepted)
    /// The outcome of a push that the push service rejected.
    case rejected(Rejection)
    /// The outcome of a push that the push service did not process. It is safe to send the push again.
    case notSent(Failure)
    /// The outcome of a push whose response did not arrive. If it is sent again, the notification may be shown twice.
    case unknown(Failure)

    /// The response of a push service that accepted a notification.
    public struct Accepted: Hashable, Sendable {
        /// The header `apns-id` of the response, or `apns-request-id` for a broadcast.
        public var id: String
        /// The `apns-unique-id` header, by which Apple's console finds the notification, or `nil` outside the sandbox.
        public var uniqueID: String?

        /// Creates the response from the values of its two header fields.
        public init(id: String, uniqueID: String? = nil) { (self.id, self.uniqueID) = (id, uniqueID) }
    }

    /// The reason why a push has no response from the push service.
    public struct Failure: Hashable, Sendable, CustomStringConvertible {
        /// A readable description of the failure. It contains no secret and no complete token.
        public var description: String
        /// The push service's reason for closing the connection, or `nil` if it gave none or one that is not a case of
        /// `Reason`.
        public var reason: Reason?
        /// The reason why no connection could be opened, or `nil` for any other failure.
        public var fault: ConnectionFault?
        /// A Boolean value that indicates whether the push itself cannot be sent, for example because HTTP/2 does not
        /// allow one of its headers. Every further attempt would fail in the same way.
        public var isOfPush: Bool

        /// Creates a failure from the values of its properties.
        public init(
            _ description: String,
            reason: Reason? = nil,
            fault: ConnectionFault? = nil,
            isOfPush: Bool = false
        ) {
            (self.description, self.reason, self.fault, self.isOfPush) = (description, reason, fault, isOfPush)
        }
    }
}

/// The reason why no connection to a push service could be opened, and the address that was used. The fault usually
/// lasts until a setting, a certificate or the network changes.
public struct ConnectionFault: Hashable, Sendable {
    /// The reason why opening the connection failed.
    public enum Cause: String, Hashable, Sendable, CaseIterable {
        /// The cause of a fault: the host name has no address.
        case unknownHost
        /// The cause of a fault: no server listens on the port.
        case refused
        /// The cause of a fault: the network has no route to the address.
        case unreachable
        /// The cause of a fault: a response did not arrive within the time limit.
        case timeout
        /// The cause of a fault: the server's certificate is not trusted, has expired or is for another name.
        case untrustedServer
        /// The cause of a fault: the server uses another protocol than HTTP/2 over TLS.
        case wrongProtocol
        /// The cause of a fault: the server rejected the client certificate, or requires one.
        case clientCertificateRejected
        /// The cause of a fault: the proxy refuses to open a tunnel until a setting is changed, such as the password.
        case proxy
        /// The cause of a fault: the proxy cannot be reached, or temporarily refuses to open a tunnel.
        case proxyUnavailable
        /// The cause of a fault: the server closed the connection before it was established.
        case closed
        /// Another cause of a fault, which the description of the failure names.
        case other
    }

    /// The reason why opening the connection failed.
    public var cause: Cause
    /// The host name or IP address to which the connection was attempted.
    public var host: String
    /// The port to which the connection was attempted.
    public var port: Int

    /// Creates a fault with its cause and the address of the attempt.
    public init(_ cause: Cause, host: String, port: Int) { (self.cause, self.host, self.port) = (cause, host, port) }
}

extension ConnectionFault {
    /// Creates a fault with the address at which it occurred. This is the address of the push service or, for a fault
    /// of the proxy, that of `proxy`.
    /// - Parameter proxy: The proxy of the connection, or `nil` if there is none.
    init(_ cause: Cause, at endpoint: PushServiceEndpoint, through proxy: ProxyEndpoint?) {
        if cause == .proxy || cause == .proxyUnavailable, let proxy {
            self.init(cause, host: proxy.host, port: proxy.port)
        } else {
            self.init(cause, host: endpoint.host, port: endpoint.port)
        }
    }
}
