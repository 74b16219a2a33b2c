import Foundation

/// The address of one app on one device in one environment, as the push service minted it.
///
/// Opaque and of variable length: 32 bytes are common, longer ones exist (reference 1.7). Its description never shows
/// the whole token, so that it can be logged.
public struct DeviceToken: Hashable, Sendable {
    /// Longest token accepted, in bytes. The binary interface allows 100; HTTP/2 has no documented limit.
    public static let maximumLength = 512

    public let bytes: [UInt8]

    /// `nil` when `bytes` is empty or longer than ``maximumLength``.
    public init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength else { return nil }
        self.bytes = bytes
    }

    /// Reads hexadecimal text in either case, without separators; `nil` for anything else.
    public init?(hex: some StringProtocol) {
        guard hex.utf8.count <= Self.maximumLength * 2, let bytes = Hexadecimal.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads what people paste: hexadecimal, also as an old `NSData` description (`<302bd38c c16adf6c>`), else base64.
    ///
    /// Text that is both is taken as hexadecimal (reference 1.7: strip `<`, `>` and spaces).
    public init?(userInput text: String) {
        guard text.utf8.count <= Self.maximumLength * 4 else { return nil }
        let cleaned = text.filter { !"<> \t\r\n".contains($0) }
        if let token = Self(hex: cleaned) {
            self = token
        } else if let data = Data(base64Encoded: cleaned) {
            self.init(bytes: Array(data))
        } else {
            return nil
        }
    }

    /// Lower-case hexadecimal, as it stands in `/3/device/<token>`.
    public var hex: String { Hexadecimal.encode(self.bytes) }
}

extension DeviceToken: CustomStringConvertible {
    /// The first four bytes and the length, for example `302bd38c… (32 bytes)`.
    public var description: String {
        "\(Hexadecimal.encode(self.bytes.prefix(4)))… (\(self.bytes.count) bytes)"
    }
}
