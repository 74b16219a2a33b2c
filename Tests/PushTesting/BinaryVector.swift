import NIOCore
import PushTypes
import PushWire

/// The notifications of APNs reference 8.5 to 8.7, as bytes.
package struct BinaryVector: CustomStringConvertible, Sendable {
    package var name: String
    package var bytes: [UInt8]
    package var identifier: UInt32 = 0
    /// The error packet in hexadecimal, for one that is rejected.
    package var response: String?

    package var description: String { self.name }

    private init(_ name: String, _ hex: String, identifier: UInt32 = 0, response: String? = nil) {
        self.name = name
        self.bytes = Hexadecimal.decode(hex) ?? []
        self.identifier = identifier
        self.response = response
    }

    private static let payload = "7b22617073223a7b22616c657274223a224869227d7d"

    package static let simple = Self("command 0", "000020\(Vectors.tokenA)0016\(payload)")
    package static let enhanced = Self(
        "command 1",
        "01000000016553ff100020\(Vectors.tokenA)0016\(payload)",
        identifier: 1
    )
    package static let framed = Self(
        "command 2",
        "020000004e010020\(Vectors.tokenA)020016\(payload)030004010203040400046553ff100500010a",
        identifier: 0x0102_0304
    )
    package static let unnamed = Self("command 2, smallest", "020000003c010020\(Vectors.tokenA)020016\(payload)")
    package static let good = [simple, enhanced, framed, unnamed]

    package static let bad = [
        Self("4-byte token", "0100000002000000000004deadbeef0016\(payload)", response: "080500000002"),
        Self("empty payload", "0100000003000000000020\(Vectors.tokenA)0000", response: "080400000003"),
        Self("empty token", "010000000400000000000000167b\(payload.dropFirst(2))", response: "080200000004"),
        Self("unknown command", "09", response: "088000000000"),
        Self("257 bytes of payload", "0100000005000000000020\(Vectors.tokenA)0101", response: "080700000005"),
        Self("the test of java-apns", "010000000000000000000100000100", response: "080500000000"),
        Self("an endless frame", "0200002001", response: "088000000000"),
        Self("two tokens", "0200000046010020\(Vectors.tokenA)010020\(Vectors.tokenA)", response: "088000000000"),
    ]

    package static let all = good + bad

    /// Returns notifications of command 2 with these identifiers, in one piece.
    package static func notifications(_ identifiers: ClosedRange<UInt32>) -> [UInt8] {
        let token = Hexadecimal.decode(Vectors.tokenA) ?? []
        return identifiers.flatMap { identifier in
            let notification = BinaryNotification(
                token: token,
                payload: ByteBuffer(string: Vectors.payload),
                identifier: identifier
            )
            return Array(BinaryFrame(command: .framed, notification: notification).encoded.readableBytesView)
        }
    }
}
