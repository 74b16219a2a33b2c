import Foundation

/// An IPv4 or IPv6 address.
package struct IPAddress: Hashable, Sendable {
    /// The 4 or 16 bytes of the address in network byte order.
    package let bytes: [UInt8]

    /// Parses strict dotted decimal (RFC 6943 section 3.1.1), or the text of an IPv6 address (RFC 4291 section 2.2)
    /// without brackets and zone, or returns `nil` for any other text.
    package init?(_ text: String) {
        guard text.utf8.count < 64 else { return nil }
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self.bytes = withUnsafeBytes(of: &four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            self.bytes = withUnsafeBytes(of: &six) { Array($0) }
        } else {
            return nil
        }
    }

    /// Creates the address from a result of `getaddrinfo`, or returns `nil` for another address family.
    init?(_ info: addrinfo) {
        guard let address = info.ai_addr else { return nil }
        let (length, raw) = (Int(info.ai_addrlen), UnsafeRawPointer(address))
        if info.ai_family == AF_INET, length >= MemoryLayout<sockaddr_in>.size {
            self.bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
        } else if info.ai_family == AF_INET6, length >= MemoryLayout<sockaddr_in6>.size {
            self.bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
        } else {
            return nil
        }
    }

    func hasPrefix(_ prefix: IPAddress, length: Int) -> Bool {
        guard self.bytes.count == prefix.bytes.count else { return false }
        for (index, (byte, wanted)) in zip(self.bytes, prefix.bytes).enumerated() {
            let bits = min(8, length - 8 * index)
            guard bits > 0 else { return true }
            guard (byte ^ wanted) >> (8 - bits) == 0 else { return false }
        }
        return true
    }
}

extension IPAddress: CustomStringConvertible {
    /// The text of the address, without brackets.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = self.bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, self.bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
