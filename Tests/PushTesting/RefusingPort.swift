import NIOCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A port of this machine that refuses connections: a socket is bound to it and does not listen, so that nobody who asks
/// for any free port gets it.
///
/// On Linux a server of the test that asks for this port gets it (`SO_REUSEADDR`). It refuses connections again once that server has
/// stopped.
package final class RefusingPort: Sendable {
    package let number: Int
    private let descriptor: CInt

    package init() throws {
        #if canImport(Darwin) || canImport(Musl)
        let stream = SOCK_STREAM
        #else
        let stream = CInt(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_INET, stream, 0)
        var on: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
        let isBound = try SocketAddress(ipAddress: "127.0.0.1", port: 0).withSockAddr { address, size in
            bind(descriptor, address, socklen_t(size)) == 0
        }
        // Family and port precede the address of `sockaddr_in`.
        var bytes = [UInt8](repeating: 0, count: 128)
        var length = socklen_t(bytes.count)
        let hasName = bytes.withUnsafeMutableBytes { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return getsockname(descriptor, address, &length) == 0
        }
        self.descriptor = descriptor
        guard isBound, hasName else { throw NoPort() }
        self.number = Int(bytes[2]) << 8 | Int(bytes[3])
    }

    deinit {
        close(self.descriptor)
    }

    /// The error of a machine without free ports.
    private struct NoPort: Error {}
}
