/// The network from which a user signs in: an IPv4 address, or the first 64 bits of an IPv6 address, which identify one
/// customer's network.
struct SignInNetwork: Hashable, Sendable {
    /// The 4 or 8 bytes of the network, or for text that is not an address the first 64 bytes of its UTF-8.
    let bytes: [UInt8]

    /// The site of the network: the IPv4 address, or the first 48 bits of an IPv6 address.
    var site: [UInt8] { self.bytes.count == 8 ? Array(self.bytes.prefix(6)) : self.bytes }

    /// Reads the text of an IP address. Any other text counts as a network of its own.
    init(_ address: String) {
        guard let bytes = IPAddress(address)?.bytes else {
            self.bytes = Array(address.utf8.prefix(64))
            return
        }
        let isMapped = bytes.count == 16 && bytes.starts(with: [UInt8](repeating: 0, count: 10) + [0xff, 0xff])
        self.bytes = bytes.count == 4 ? bytes : isMapped ? Array(bytes.suffix(4)) : Array(bytes.prefix(8))
    }
}
