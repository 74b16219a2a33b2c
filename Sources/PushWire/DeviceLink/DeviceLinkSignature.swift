package import PushTypes

/// The proof in *Connect* that the device holds its certificate's key: two bytes that name the scheme, then a signature
/// of the nonce (device link reference 4).
package enum DeviceLinkSignature {
    /// The scheme `01 01`: RSA PKCS#1 v1.5 with SHA-1.
    package static let rsaSHA1: [UInt8] = [1, 1]
    /// The scheme `02 01`, Martlet's own: ECDSA P-256 with SHA-256, in DER (device link reference 6).
    package static let ecdsaP256SHA256: [UInt8] = [2, 1]
}

/// The signed bytes of *Connect*: `00`, milliseconds since 1970 in 8 bytes, 8 random bytes (device link reference 4).
package struct DeviceLinkNonce: Hashable, Sendable {
    /// The length in bytes.
    package static let length = 17

    package let bytes: [UInt8]

    package init(time: Timestamp, random: UInt64) {
        let milliseconds = UInt64(clamping: time.milliseconds)
        self.bytes = [0] + Self.bigEndian(milliseconds) + Self.bigEndian(random)
    }

    /// Returns `nil` unless there are 17 bytes, the first of them 0.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes.first == 0 else { return nil }
        self.bytes = bytes
    }

    /// The time at which the device made it.
    package var time: Timestamp {
        let milliseconds = self.bytes[1...8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Timestamp(milliseconds: Int64(clamping: milliseconds))
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }
}
