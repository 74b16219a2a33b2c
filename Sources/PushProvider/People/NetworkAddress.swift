/// The network from which a person signs in: an IPv4 address, or the 64 bits of IPv6 that one customer has.
struct NetworkAddress: Hashable, Sendable {
    /// 4 or 8 bytes; the UTF-8 of any other text, 64 bytes at most.
    let bytes: [UInt8]

    /// The network, or the 48 bits of IPv6 that one site has.
    var site: [UInt8] { self.bytes.count == 8 ? Array(self.bytes.prefix(6)) : self.bytes }

    /// - Parameter address: The text of an IP address.
    init(_ address: String) {
        guard let bytes = IPAddress(address)?.bytes else {
            self.bytes = Array(address.utf8.prefix(64))
            return
        }
        let isMapped = bytes.count == 16 && bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xff, 0xff])
        self.bytes = bytes.count == 4 ? bytes : isMapped ? Array(bytes.suffix(4)) : Array(bytes.prefix(8))
    }
}
