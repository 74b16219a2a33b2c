import Logging
import NIOCore
import PushTypes

/// Receives the failure of each connection that could not be opened on any port, and `nil` when one is open.
package typealias ConnectionObserver = @Sendable (Outcome.Failure?) -> Void

/// Decides the level of a log message that each attempt to connect would repeat: a warning once a minute for each text.
struct RepeatedWarning {
    private static let interval: TimeAmount = .seconds(60)

    private var text: String?
    private var warnedAt: NIODeadline?

    mutating func level(of text: String, now: NIODeadline) -> Logger.Level {
        if self.text == text, let warnedAt, now < warnedAt + Self.interval { return .info }
        (self.text, self.warnedAt) = (text, now)
        return .warning
    }
}

extension ConnectionFault {
    /// The fault with the address at which it happened.
    init(_ cause: Cause, at endpoint: PushServiceEndpoint, through proxy: ProxyEndpoint?) {
        if cause == .proxy || cause == .proxyUnavailable, let proxy {
            self.init(cause, host: proxy.host, port: proxy.port)
        } else {
            self.init(cause, host: endpoint.host, port: endpoint.port)
        }
    }
}

extension Outcome.Failure {
    /// The failure for a log, with the address at which it happened.
    func metadata(_ endpoint: PushServiceEndpoint) -> Logger.Metadata {
        let (host, port) = (self.fault?.host ?? endpoint.host, self.fault?.port ?? endpoint.port)
        return ["host": "\(host)", "port": "\(port)", "error": "\(self.description)"]
    }
}
