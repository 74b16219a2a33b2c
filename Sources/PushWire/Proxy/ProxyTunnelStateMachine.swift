import Foundation
package import NIOCore
package import PushTypes

/// Requests a tunnel from a proxy and parses the response, without I/O (RFC 9110 section 9.3.6). It replaces the
/// handler of swift-nio-extras, which hides the proxy's status and does not limit the length of the headers.
package struct ProxyTunnelStateMachine: Sendable {
    /// The result of processing bytes from the proxy.
    package enum Result: Hashable, Sendable {
        /// A result that states that the response is not complete.
        case incomplete
        /// A result that states that the tunnel is open, with the first bytes from the host at the other end.
        case open(ByteBuffer)
        case failed(ProxyFailure.Cause)
    }

    /// The maximum total length, in bytes, of the response's head and interim responses. A longer one fails with
    /// ``ProxyFailure/Cause/endless``.
    package static let maximumHead = 16 * 1024
    private static let version = Array("HTTP/1.".utf8)
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private var received = ByteBuffer()
    /// The length of the interim responses, which are discarded, in bytes.
    private var interim = 0
    /// The number of bytes of the head that were searched for its end, and the length of the line in which they end.
    private var searched = 0, lineLength = 0

    package init() {}

    package static func request(to host: String, port: Int, through proxy: ProxyEndpoint) -> ByteBuffer {
        let target = "\(host):\(port)"
        var text = "CONNECT \(target) HTTP/1.1\r\nhost: \(target)\r\n"
        if let user = proxy.user {
            let credentials = Data("\(user):\(proxy.password ?? "")".utf8).base64EncodedString()
            text += "proxy-authorization: Basic \(credentials)\r\n"
        }
        return ByteBuffer(string: text + "\r\n")
    }

    /// Processes bytes from the proxy. After any result other than ``Result/incomplete``, this method must not be
    /// called again.
    package mutating func receive(_ bytes: ByteBuffer) -> Result {
        self.received.writeImmutableBuffer(bytes)
        while true {
            let bytes = self.received.readableBytesView
            // Another protocol is detected by its first bytes, because its peer may wait for this end to send more.
            guard bytes.starts(with: Self.version.prefix(bytes.count)) else { return .failed(.notHTTP) }
            guard let end = self.endOfHead(bytes), self.interim + end <= Self.maximumHead else {
                return self.interim + bytes.count > Self.maximumHead ? .failed(.endless) : .incomplete
            }
            guard let (status, phrase) = Self.statusLine(bytes) else { return .failed(.notHTTP) }
            self.received.moveReaderIndex(forwardBy: end)
            (self.searched, self.lineLength) = (0, 0)
            switch status {
            case 100, 102..<200: self.interim += end
            case 200..<300: return .open(self.received)
            case 403: return .failed(.forbidden)
            case 401, 407: return .failed(.unauthorized(status: status))
            default: return .failed(.rejected(status: status, phrase: phrase))
            }
        }
    }

    /// Returns the length of the head, including the empty line, or `nil` if the empty line has not arrived.
    private mutating func endOfHead(_ bytes: ByteBufferView) -> Int? {
        for byte in bytes.dropFirst(self.searched).prefix(Self.maximumHead + 1) {
            self.searched += 1
            switch byte {
            case Self.lineFeed where self.lineLength == 0: return self.searched
            case Self.lineFeed: self.lineLength = 0
            case Self.carriageReturn: continue
            default: self.lineLength += 1
            }
        }
        return nil
    }

    /// Parses a status line, and returns the status and at most 60 printable characters of the reason phrase. Returns
    /// `nil` for any other line.
    private static func statusLine(_ bytes: ByteBufferView) -> (Int, String)? {
        let line = bytes.prefix { $0 != self.lineFeed && $0 != self.carriageReturn }
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count >= 2, parts[0].count == self.version.count + 1, parts[1].count == 3,
            let status = Int(String(decoding: parts[1], as: UTF8.self)), (100..<600).contains(status)
        else { return nil }
        let phrase = parts.count > 2 ? parts[2].prefix(60).filter { (0x20..<0x7f).contains($0) } : []
        return (status, String(decoding: phrase, as: UTF8.self))
    }
}

/// The failure of a proxy to open a tunnel. The description contains the proxy's address, but never its password.
package struct ProxyFailure: Error, Hashable, CustomStringConvertible {
    /// The cause of the failure to open a tunnel.
    package enum Cause: Hashable, Sendable {
        /// No tunnel was opened because no TCP connection to the proxy could be opened, for the reason in the text.
        case unreachable(String)
        /// No tunnel was opened because the proxy rejected the credentials (status 407, or 401 from tinyproxy).
        case unauthorized(status: Int)
        /// No tunnel was opened because the proxy forbids tunnels to this host and port (status 403).
        case forbidden
        /// No tunnel was opened because the proxy responded with another status outside 2xx.
        case rejected(status: Int, phrase: String)
        /// No tunnel was opened because the proxy's response is not HTTP/1.
        case notHTTP
        /// No tunnel was opened because the head of the response exceeds ``ProxyTunnelStateMachine/maximumHead`` bytes.
        case endless
        /// No tunnel was opened because no complete response arrived before the deadline.
        case timeout
        /// No tunnel was opened because the proxy closed the connection before its response was complete.
        case closed
        /// No tunnel was opened because the push service is specified by an IP address instead of a name. Its
        /// certificate could not be checked against the address, because the remote address of the connection is that
        /// of the proxy.
        case needsName
    }

    package let cause: Cause
    private let proxy: String
    private let hasUser: Bool
    private let target: String

    /// Creates the failure of a tunnel.
    /// - Parameters:
    ///   - host: The host at the other end of the tunnel.
    ///   - port: The port at the other end of the tunnel.
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

    /// A Boolean value that indicates whether every attempt fails in the same way until a setting is changed, locally
    /// or at the proxy.
    package var isLasting: Bool {
        switch self.cause {
        case .unauthorized, .forbidden, .notHTTP, .endless, .needsName: true
        case .rejected(let status, _):
            status < 500 && ![408, 425, 429].contains(status) || status == 501 || status == 505
        case .unreachable, .timeout, .closed: false
        }
    }

    /// A Boolean value that indicates whether a tunnel to another port of the same host could still be opened.
    package var dependsOnPort: Bool {
        switch self.cause {
        case .forbidden, .rejected, .timeout, .closed: true
        case .unreachable, .unauthorized, .notHTTP, .endless, .needsName: false
        }
    }
}
