import Foundation
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PushTypes
import PushWire

/// The reason why a connection could not be opened, or why it was closed.
struct ConnectionError: Error, Hashable, CustomStringConvertible {
    var description: String
    /// A Boolean value that indicates whether every further attempt fails in the same way until a setting, a
    /// certificate or the server is changed.
    var isLasting = false
    var cause: ConnectionFault.Cause
    /// A Boolean value that indicates whether the push service has another port to which no connection has failed.
    var hasAlternative = false
    /// A Boolean value that indicates whether the proxy itself failed, regardless of the requested port.
    private var isProxyItself = false

    static let closedByServer = Self(description: "the push service closed the connection", cause: .closed)

    init(description: String, isLasting: Bool = false, cause: ConnectionFault.Cause = .other) {
        (self.description, self.isLasting, self.cause) = (description, isLasting, cause)
    }

    /// A Boolean value that indicates whether a connection to another port of the push service may succeed.
    var mayDependOnPort: Bool {
        switch self.cause {
        case .unknownHost, .clientCertificateRejected: false
        case .refused, .unreachable, .timeout, .untrustedServer, .wrongProtocol, .proxy, .proxyUnavailable, .closed,
            .other:
            !self.isProxyItself
        }
    }

    /// Creates the reason from an error of the transport.
    /// - Parameter isEstablished: Pass `true` if the service has sent its HTTP/2 settings, in which case a TLS error is
    ///   temporary.
    init(_ error: any Error, isEstablished: Bool = false) {
        switch error {
        case let failure as ConnectionError: self = failure
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            let text = "\(error)"
            // A service that restarts closes connections during the handshake.
            let isTemporary = text.contains("EOF") || text.contains("eofDuring") || text.contains("uncleanShutdown")
            let (detail, cause) = Self.tlsFailure(text)
            self.init(
                description: "TLS: \(detail)",
                isLasting: !isEstablished && !isTemporary,
                cause: isTemporary ? .closed : cause
            )
        case let error as IOError: self.init(description: Self.text(of: error), cause: Self.cause(of: error))
        case let error as NIOConnectionError: self.init(error)
        case let error as ProxyFailure:
            let isLasting = error.isLasting
            self.init(
                description: error.description,
                isLasting: isLasting,
                cause: isLasting ? .proxy : .proxyUnavailable
            )
            self.isProxyItself = !error.dependsOnPort
        case ChannelError.connectTimeout(let time):
            self.init(description: "no connection within \(time.nanoseconds / 1_000_000_000) s", cause: .timeout)
        default: self.init(description: "\(error)")
        }
    }

    private init(_ error: NIOConnectionError) {
        if let dns = error.dnsAError ?? error.dnsAAAAError {
            let reason = (dns as? SocketAddressError.UnknownHost)?.errorDescription ?? "\(dns)"
            self.init(description: "\(error.host) has no address: \(reason)", cause: .unknownHost)
        } else if let first = error.connectionErrors.first?.error {
            self.init(first)
        } else {
            self.init(description: "no connection to \(error.host)", cause: .unreachable)
        }
    }

    private static func cause(of error: IOError) -> ConnectionFault.Cause {
        switch error.errnoCode {
        case ECONNREFUSED: .refused
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL: .unreachable
        case ETIMEDOUT: .timeout
        case ECONNRESET, EPIPE: .closed
        default: .other
        }
    }

    /// Returns the operating system's message for an error, without NIO's additions.
    private static func text(of error: IOError) -> String {
        strerror(error.errnoCode).map { String(cString: $0).lowercased() } ?? "\(error)"
    }

    /// Returns the description of a TLS error and its cause. For uncommon causes, the description is the text of the
    /// TLS library.
    private static func tlsFailure(_ text: String) -> (detail: String, ConnectionFault.Cause) {
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname")
            || text.contains("unableToValidateCertificate")
        {
            return ("the server's certificate is not trusted, has expired or is for another name", .untrustedServer)
        }
        if text.contains("WRONG_VERSION_NUMBER") {
            return ("the server does not speak TLS on this port", .wrongProtocol)
        }
        if text.contains("ALERT"), text.contains("CERTIFICATE") || text.contains("UNKNOWN_CA") {
            let detail = "the server rejected the client certificate, or requires one: \(text)"
            return (detail, .clientCertificateRejected)
        }
        return (text, .other)
    }
}

extension HTTP2RequestFailure {
    var failure: Outcome.Failure {
        switch self {
        case .goAway(let goAway): .init("the push service ended the connection: \(goAway.text)", reason: goAway.reason)
        case .reset(let code): .init("the push service reset the stream: \(HTTP2ErrorCode.text(of: code))")
        case .responseTimeout: .init("no response within the time limit")
        case .unresponsive: .init("the connection is dead: no response to a PING")
        case .closed(let description): .init("the connection was lost: \(description)")
        case .violation(let code, let text): .init("the push service violated HTTP/2: \(text) (\(code.name))")
        case .handshakeTimeout: .init("the push service sent no HTTP/2 settings within the time limit")
        case .drainTimeout: .init("the connection had to end before the response came")
        case .malformedHeader:
            .init("apns-id or apns-collapse-id has a control character, or a space at an end", isOfPush: true)
        case .headersTooLong: .init("the request's headers are too long")
        }
    }

    /// A Boolean value that indicates whether the push may be sent on another connection, or later on the same one.
    var allowsRetry: Bool {
        switch self {
        case .headersTooLong, .malformedHeader: false
        case .goAway(let goAway): !goAway.isLasting
        default: true
        }
    }
}

extension GoAway {
    /// The member `reason` of the debug data, or `nil` if it is absent or unknown.
    var reason: Reason? { Reason(rawValue: PushResponse.reasonText(Array(self.debugData.utf8))) }

    /// A Boolean value that indicates whether the service would close a new connection for the same reason.
    var isLasting: Bool {
        guard let reason else { return false }
        return Rejection(status: reason.status, reasonText: reason.text).advice == .fixConfiguration
    }

    var text: String {
        let detail = self.reason?.text ?? self.debugData.filter { (" "..."~").contains($0) }
        let code = HTTP2ErrorCode.text(of: self.code)
        return detail.isEmpty ? code : "\(detail) (\(code))"
    }

    var metadata: Logger.Metadata { ["last-stream": "\(self.lastStreamID)", "reason": "\(self.text)"] }
}
