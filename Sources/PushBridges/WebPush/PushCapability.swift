import Crypto
import Foundation
import PushTypes

/// A random text that gives whoever has it a right: the last part of a push resource's address, or the token of a message.
/// The store has its hash only.
struct PushCapability: Hashable, Sendable {
    /// 160 bits.
    private static let length = 20

    /// 27 characters of base64url.
    let text: String

    /// Makes a new one.
    init() {
        var generator = SystemRandomNumberGenerator()
        self.text = Base64URL.encode((0..<Self.length).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// Reads a text; `nil` for one of another form.
    init?(_ text: String) {
        guard text.utf8.count == 27, Base64URL.decode(text)?.count == Self.length else { return nil }
        self.text = text
    }

    /// The SHA-256 of the text.
    var hash: [UInt8] { Array(SHA256.hash(data: Data(self.text.utf8))) }
}
