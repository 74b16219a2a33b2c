package import PushTypes

/// The reason for which a proxy opened no tunnel. Its description names the proxy, never the password.
package struct ProxyFailure: Error, Hashable, CustomStringConvertible {
    /// The step that failed.
    package enum Cause: Hashable, Sendable {
        /// There is no TCP connection to the proxy, for the reason in the text.
        case unreachable(String)
        /// The proxy wants other credentials (407; tinyproxy also answers 401).
        case unauthorized(status: Int)
        /// The proxy does not allow this host and port (403).
        case forbidden
        /// The proxy answered with another status than 2xx.
        case rejected(status: Int, phrase: String)
        /// The answer is not HTTP/1.
        case notHTTP
        /// The answer's head does not end within ``ProxyTunnelStateMachine/maximumHead`` bytes.
        case endless
        /// There was no complete answer within the time limit.
        case timeout
        /// The proxy closed the connection before its answer was complete.
        case closed
        /// The push service has an address instead of a name. An address in its certificate could not be checked, because
        /// the connection's own address is the proxy's.
        case needsName
    }

    /// The step that failed.
    package let cause: Cause
    private let proxy: String
    private let hasUser: Bool
    private let target: String

    /// - Parameters:
    ///   - host: The host at the other end of the tunnel.
    ///   - port: Its port.
    package init(_ cause: Cause, proxy: ProxyEndpoint, host: String, port: Int) {
        (self.cause, self.proxy, self.hasUser) = (cause, proxy.description, proxy.user != nil)
        self.target = "\(host):\(port)"
    }

    package var description: String {
        switch self.cause {
        case .unreachable(let reason): "no connection to the proxy \(self.proxy): \(reason)"
        case .unauthorized(let status) where self.hasUser:
            "the proxy \(self.proxy) does not accept the user or the password (\(status)): correct them in the proxy's URL"
        case .unauthorized(let status):
            "the proxy \(self.proxy) wants a user and a password (\(status)): set http://USER:PASSWORD@HOST:PORT"
        case .forbidden:
            "the proxy \(self.proxy) does not allow \(self.target) (403): allow CONNECT to this host and port there"
        case .rejected(let status, let phrase):
            "the proxy \(self.proxy) opened no tunnel to \(self.target): \(status)\(phrase.isEmpty ? "" : " \(phrase)")"
        case .notHTTP: "\(self.proxy) is not an HTTP proxy: its answer is not HTTP/1"
        case .endless:
            "the proxy \(self.proxy) sent more than \(ProxyTunnelStateMachine.maximumHead) bytes without end of its headers"
        case .timeout: "the proxy \(self.proxy) opened no tunnel to \(self.target) within the time limit"
        case .closed: "the proxy \(self.proxy) closed the connection instead of opening a tunnel to \(self.target)"
        case .needsName:
            "through a proxy the push service must be a name, not the address \(self.target): its certificate could not be checked"
        }
    }

    /// Indicates whether another attempt fails in the same way until a setting is changed, here or at the proxy.
    package var isLasting: Bool {
        switch self.cause {
        case .unauthorized, .forbidden, .notHTTP, .endless, .needsName: true
        case .rejected(let status, _):
            status < 500 && ![408, 425, 429].contains(status) || status == 501 || status == 505
        case .unreachable, .timeout, .closed: false
        }
    }

    /// Indicates whether a tunnel to another port of the same host may open.
    package var dependsOnPort: Bool {
        switch self.cause {
        case .forbidden, .rejected, .timeout, .closed: true
        case .unreachable, .unauthorized, .notHTTP, .endless, .needsName: false
        }
    }
}
