#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A port of this machine that refuses connections: a socket is bound to it and does not listen, so that no other test
/// gets it meanwhile.
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
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        self.descriptor = descriptor
        guard isBound else { throw NoPort() }
        self.number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        close(self.descriptor)
    }

    /// The error of a machine without free ports.
    private struct NoPort: Error {}
}
