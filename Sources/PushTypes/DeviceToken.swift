import Foundation

/// The address of one app on one device in one environment, minted by the push service.
///
/// A token is opaque and of variable length: 32 bytes are common, longer ones exist (reference 1.7). The description
/// never shows the whole token, so a token can be logged.
public struct DeviceToken: Hashable, Sendable {
    /// The longest token that is accepted, in bytes. The binary protocol allows 100; HTTP/2 has no documented limit.
    public static let maximumLength = 512

    /// The bytes that the push service minted.
    public let bytes: [UInt8]

    /// Creates a token, or returns `nil` when `bytes` is empty or longer than ``maximumLength``.
    public init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength else { return nil }
        self.bytes = bytes
    }

    /// Creates the stand-in for a token where a channel takes its place. It is never sent.
    package init(standingFor channel: ChannelID) { self.bytes = Array(channel.text.utf8) }

    /// Reads hexadecimal text in either case, without separators. Returns `nil` for anything else.
    public init?(hex: some StringProtocol) {
        guard hex.utf8.count <= Self.maximumLength * 2, let bytes = Hexadecimal.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// Reads a token that was typed or pasted: hexadecimal, also as an old `NSData` description
    /// (`<302bd38c c16adf6c>`), or base64.
    ///
    /// Text that is valid as both is read as hexadecimal. `<`, `>` and white space are ignored (reference 1.7). Returns
    /// `nil` for any other text.
    public init?(userInput text: String) {
        guard text.utf8.count <= Self.maximumLength * 4 else { return nil }
        // As nearly all are written.
        if let token = Self(hex: text) {
            self = token
            return
        }
        let cleaned = text.filter { !"<> \t\r\n".contains($0) }
        if let token = Self(hex: cleaned) {
            self = token
        } else if let data = Data(base64Encoded: cleaned) {
            self.init(bytes: Array(data))
        } else {
            return nil
        }
    }

    /// The token in lower-case hexadecimal, as in the path `/3/device/<token>`.
    public var hex: String { Hexadecimal.encode(self.bytes) }
}

extension DeviceToken: CustomStringConvertible {
    /// The first four bytes and the length, for example `302bd38c… (32 bytes)`.
    public var description: String {
        "\(Hexadecimal.encode(self.bytes.prefix(4)))… (\(self.bytes.count) bytes)"
    }
}
