import Foundation
import Logging
import NIOCore
import NIOExtras
import NIOPosix
import NIOSSL
import PushTypes
import PushWire

/// The reason for which a connection could not be opened, or ended.
struct ConnectionFailure: Error, Hashable, CustomStringConvertible {
    var description: String
    /// Indicates whether another attempt fails in the same way until a setting, a certificate or the server is changed.
    var isLasting = false

    static let closedByServer = Self(description: "the push service closed the connection")

    init(description: String, isLasting: Bool = false) {
        (self.description, self.isLasting) = (description, isLasting)
    }

    /// - Parameter isEstablished: Is `true` if the service has sent its settings.
    init(_ error: any Error, isEstablished: Bool = false) {
        switch error {
        case let failure as ConnectionFailure: self = failure
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            let text = "\(error)"
            // A service that restarts closes connections during the handshake.
            let isTemporary = text.contains("EOF") || text.contains("eofDuring") || text.contains("uncleanShutdown")
            self.init(description: "TLS: \(Self.tlsText(of: text))", isLasting: !isEstablished && !isTemporary)
        case let error as IOError: self.init(description: Self.text(of: error))
        case let error as NIOConnectionError: self.init(description: Self.text(of: error))
        case let error as NIOHTTP1ProxyConnectHandler.Error:
            self.init(description: "the proxy opened no tunnel: \(error)", isLasting: true)
        case ChannelError.connectTimeout(let time):
            self.init(description: "no connection within \(time.nanoseconds / 1_000_000_000) s")
        default: self.init(description: "\(error)")
        }
    }

    private static func text(of error: NIOConnectionError) -> String {
        if let dns = error.dnsAError ?? error.dnsAAAAError { return "\(error.host) has no address: \(dns)" }
        guard let first = error.connectionErrors.first?.error else { return "no connection to \(error.host)" }
        return ConnectionFailure(first).description
    }

    /// Returns the system's message, without the library's additions.
    private static func text(of error: IOError) -> String {
        strerror(error.errnoCode).map { String(cString: $0).lowercased() } ?? "\(error)"
    }

    /// Returns a message for the commonest causes, and the library's text for all others.
    private static func tlsText(of text: String) -> String {
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname") {
            return "the server's certificate is not trusted, has expired or is for another name"
        }
        if text.contains("WRONG_VERSION_NUMBER") { return "the server does not speak TLS on this port" }
        if text.contains("ALERT"), text.contains("CERTIFICATE") {
            return "the server rejected the client certificate, or requires one: \(text)"
        }
        return text
    }
}

extension HTTP2RequestFailure {
    /// The failure of an outcome, with a message for people.
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
        case .malformedHeader: .init("apns-id or apns-collapse-id contains a control character")
        case .headersTooLong: .init("the request's headers are too long")
        }
    }

    /// Indicates whether the push may be sent on another connection, or on this one later.
    var allowsRetry: Bool {
        switch self {
        case .headersTooLong, .malformedHeader: false
        case .goAway(let goAway): !goAway.isLasting
        default: true
        }
    }
}

extension GoAway {
    /// The `reason` of the debug data, or `nil` if it is unknown.
    var reason: Reason? {
        Reason(rawValue: PushResponse.reasonText(Array(self.debugData.utf8)))
    }

    /// Indicates whether a new connection would end in the same way.
    var isLasting: Bool {
        guard let reason else { return false }
        return Rejection(status: reason.status, reasonText: reason.text).advice == .fixConfiguration
    }

    /// The code and the debug data, for people.
    var text: String {
        let detail = self.reason?.text ?? self.debugData.filter { (" "..."~").contains($0) }
        let code = HTTP2ErrorCode.text(of: self.code)
        return detail.isEmpty ? code : "\(detail) (\(code))"
    }

    var metadata: Logger.Metadata {
        ["last-stream": "\(self.lastStreamID)", "reason": "\(self.text)"]
    }
}
