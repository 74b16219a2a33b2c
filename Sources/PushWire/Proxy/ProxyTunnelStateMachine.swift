import Foundation
package import NIOCore
package import PushTypes

/// Asks a proxy for a tunnel and reads its answer, without I/O (RFC 9110 section 9.3.6).
///
/// swift-nio-extras has a handler for this that hides the proxy's status and trusts the proxy to end its headers.
package struct ProxyTunnelStateMachine: Sendable {
    /// The result of bytes from the proxy.
    package enum Result: Hashable, Sendable {
        /// The answer is not complete.
        case incomplete
        /// The tunnel is open. The bytes came from its other end.
        case open(ByteBuffer)
        /// There will be no tunnel.
        case failed(ProxyFailure.Cause)
    }

    /// The size of the largest head that is read, in bytes, with interim responses before it.
    package static let maximumHead = 16 * 1024
    private static let version = Array("HTTP/1.".utf8)
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    private var received = ByteBuffer()
    /// The bytes of interim responses, which are not kept.
    private var interim = 0
    /// The bytes of the head in which its end is not, and the length of the line that they end with.
    private var searched = 0, lineLength = 0

    package init() {}

    /// Returns the request for a tunnel.
    package static func request(to host: String, port: Int, through proxy: ProxyEndpoint) -> ByteBuffer {
        let target = "\(host):\(port)"
        var text = "CONNECT \(target) HTTP/1.1\r\nhost: \(target)\r\n"
        if let user = proxy.user {
            let credentials = Data("\(user):\(proxy.password ?? "")".utf8).base64EncodedString()
            text += "proxy-authorization: Basic \(credentials)\r\n"
        }
        return ByteBuffer(string: text + "\r\n")
    }

    /// Reads bytes from the proxy. After another result than `incomplete` it must not be called again.
    package mutating func receive(_ bytes: ByteBuffer) -> Result {
        self.received.writeImmutableBuffer(bytes)
        while true {
            let bytes = self.received.readableBytesView
            // Another protocol is found by its first bytes: its peer may wait for more from here.
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

    /// Returns the length of the head with its empty line, or `nil` if that has not come.
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

    /// Returns the status and the reason phrase, of which 60 printable characters are kept, or `nil` for another line.
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
