import Foundation
import Logging
import NIOCore
import NIOExtras
import NIOPosix
import NIOSSL
import PushTypes
import PushWire

/// Why a connection did not come about, or ended.
struct ConnectionFailure: Error, Hashable, CustomStringConvertible {
    var description: String
    /// Whether trying again is of no use until somebody changes something.
    var isLasting = false

    static let closedByService = Self(description: "the push service closed the connection")

    init(description: String, isLasting: Bool = false) {
        self.description = description
        self.isLasting = isLasting
    }

    /// - Parameter isEstablished: whether the service had sent its settings before.
    init(_ error: any Error, isEstablished: Bool = false) {
        switch error {
        case let failure as ConnectionFailure: self = failure
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            let text = "\(error)"
            // A service that restarts ends handshakes without a word.
            let isPassing = text.contains("EOF") || text.contains("eofDuring") || text.contains("uncleanShutdown")
            self.init(description: "TLS: \(Self.tlsText(of: text))", isLasting: !isEstablished && !isPassing)
        case let error as IOError: self.init(description: Self.text(of: error))
        case let error as NIOConnectionError: self.init(description: Self.text(of: error))
        case let error as NIOHTTP1ProxyConnectHandler.Error:
            self.init(description: "the proxy gave no tunnel: \(error)", isLasting: true)
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

    /// What the system says, without the library's own words.
    private static func text(of error: IOError) -> String {
        strerror(error.errnoCode).map { String(cString: $0).lowercased() } ?? "\(error)"
    }

    /// The commonest causes in words, anything else as the library puts it.
    private static func tlsText(of text: String) -> String {
        if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname") {
            return "the server's certificate is not trusted, has expired or is for another name"
        }
        if text.contains("WRONG_VERSION_NUMBER") { return "the server does not speak TLS on this port" }
        if text.contains("ALERT"), text.contains("CERTIFICATE") {
            return "the server refused the client certificate, or wants one: \(text)"
        }
        return text
    }
}

extension RequestFailure {
    var failure: Outcome.Failure {
        switch self {
        case .goAway(let goAway): .init("the push service ended the connection: \(goAway.text)", reason: goAway.reason)
        case .reset(let code): .init("the push service reset the stream: \(HTTP2ErrorCode.text(of: code))")
        case .replyTimeout: .init("no reply within the time limit")
        case .silent: .init("the connection is dead: no sign of life after a PING")
        case .closed(let description): .init("the connection was lost: \(description)")
        case .violation(let code, let text): .init("the push service broke HTTP/2: \(text) (\(code.name))")
        case .noHandshake: .init("the push service sent no HTTP/2 settings within the time limit")
        case .drainTimeout: .init("the connection had to end before the reply came")
        case .malformedHeader: .init("apns-id or apns-collapse-id has a control character")
        case .headersTooLong: .init("the request's headers are too long")
        }
    }

    /// Whether another connection, or this one later, may take the push.
    var mayGoElsewhere: Bool {
        switch self {
        case .headersTooLong, .malformedHeader: false
        case .goAway(let goAway): !goAway.isLasting
        default: true
        }
    }
}

extension GoAway {
    /// The `reason` of the debug data, if it is one that is known.
    var reason: Reason? {
        Reason(rawValue: PushResponse.reasonText(Array(self.debugData.utf8)))
    }

    /// Whether a new connection would end the same way.
    var isLasting: Bool {
        guard let reason else { return false }
        return Rejection(status: reason.status, reasonText: reason.text).advice == .fixConfiguration
    }

    /// Code and debug data, for people.
    var text: String {
        let detail = self.reason?.text ?? self.debugData.filter { (" "..."~").contains($0) }
        let code = HTTP2ErrorCode.text(of: self.code)
        return detail.isEmpty ? code : "\(detail) (\(code))"
    }

    var metadata: Logger.Metadata {
        ["last-stream": "\(self.lastStreamID)", "reason": "\(self.text)"]
    }
}
