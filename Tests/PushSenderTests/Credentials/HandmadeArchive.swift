import SwiftASN1

/// Builds archives that OpenSSL does not make: several identities, and the indefinite lengths of older exporters.
struct HandmadeArchive {
    /// Tells whether the outer layers have indefinite lengths and constructed strings (BER).
    var isBER = false
    private var bags: [[UInt8]] = []

    init(isBER: Bool = false) {
        self.isBER = isBER
    }

    /// - Parameter key: PKCS#8 in PEM.
    mutating func add(key: String) throws {
        self.add(bag: 1, try PEMDocument(pemString: key).derBytes)
    }

    mutating func add(certificate: String) throws {
        let value = Self.node(0x04, try PEMDocument(pemString: certificate).derBytes)
        let type: [UInt8] = [0x06, 10, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x16, 0x01]
        self.add(bag: 3, Self.node(0x30, type + Self.node(0xa0, value)))
    }

    /// The archive, without encryption and MAC.
    var bytes: [UInt8] {
        let part = self.data(Self.node(0x30, self.bags.flatMap { $0 }))
        return self.open(0x30, [0x02, 1, 3] + self.data(Self.node(0x30, part)))
    }

    private mutating func add(bag: UInt8, _ value: [UInt8]) {
        let type: [UInt8] = [0x06, 11, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01, bag]
        self.bags.append(Self.node(0x30, type + Self.node(0xa0, value)))
    }

    private func data(_ content: [UInt8]) -> [UInt8] {
        let type: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
        let pieces = [content.prefix(100), content.dropFirst(100)].map { Self.node(0x04, Array($0)) }
        let string = self.isBER ? self.open(0x24, pieces.flatMap { $0 }) : Self.node(0x04, content)
        return self.open(0x30, type + self.open(0xa0, string))
    }

    private func open(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        self.isBER ? [tag, 0x80] + content + [0, 0] : Self.node(tag, content)
    }

    private static func node(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        content.count < 128
            ? [tag, UInt8(content.count)] + content
            : [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xff)] + content
    }
}
