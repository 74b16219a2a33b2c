/// The reason for which no connection to a push service could be opened, and the address that was tried.
///
/// It lasts until a setting, a certificate or the network changes.
public struct ConnectionFault: Hashable, Sendable {
    /// The step that failed.
    public enum Cause: String, Hashable, Sendable, CaseIterable {
        /// The host name has no address.
        case unknownHost
        /// Nothing listens on the port.
        case refused
        /// The network has no way to the address.
        case unreachable
        /// An answer did not come within the time limit.
        case timeout
        /// The server's certificate is not trusted, has expired or is for another name.
        case untrustedServer
        /// The server speaks another protocol than HTTP/2 over TLS.
        case wrongProtocol
        /// The server rejected the client certificate, or requires one.
        case clientCertificateRejected
        /// The proxy opens no tunnel until a setting is changed, such as the password.
        case proxy
        /// The proxy is away, or opened no tunnel this time.
        case proxyUnavailable
        /// The server closed the connection before it was open.
        case closed
        /// Another reason, which the description of the failure has.
        case other
    }

    /// The step that failed.
    public var cause: Cause
    /// The host name or IP address.
    public var host: String
    /// The port.
    public var port: Int

    /// Creates a fault.
    public init(_ cause: Cause, host: String, port: Int) {
        (self.cause, self.host, self.port) = (cause, host, port)
    }
}
