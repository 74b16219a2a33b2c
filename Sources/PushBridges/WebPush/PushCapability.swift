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
    init() { self.text = Base64URL.encode(RandomBytes.make(Self.length)) }

    /// Reads a text; `nil` for one of another form.
    init?(_ text: String) {
        guard text.utf8.count == 27, Base64URL.decode(text)?.count == Self.length else { return nil }
        self.text = text
    }

    /// The SHA-256 of the text.
    var hash: [UInt8] { Array(SHA256.hash(data: Data(self.text.utf8))) }
}
