package import PushTypes

/// The proof in *Connect* that the device holds its certificate's key: a scheme of two bytes, then a signature over the
/// nonce (courier reference, "Signature").
package enum DeviceLinkSignature {
    /// `01 01`: RSA PKCS#1 v1.5 over SHA-1.
    package static let rsaSHA1: [UInt8] = [1, 1]
    /// `02 01`, Martlet's own: ECDSA P-256 over SHA-256, DER.
    package static let ecdsaP256SHA256: [UInt8] = [2, 1]
}

/// What is signed: `00`, milliseconds since 1970 (8 bytes), 8 random bytes.
package struct DeviceLinkNonce: Hashable, Sendable {
    package static let length = 17

    package let bytes: [UInt8]

    package init(time: Timestamp, random: UInt64) {
        let milliseconds = UInt64(clamping: time.milliseconds)
        self.bytes = [0] + Self.bigEndian(milliseconds) + Self.bigEndian(random)
    }

    /// `nil` unless there are 17 bytes that start with 0.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length, bytes.first == 0 else { return nil }
        self.bytes = bytes
    }

    package var time: Timestamp {
        let milliseconds = self.bytes[1...8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Timestamp(milliseconds: Int64(clamping: milliseconds))
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
    }
}
