import Crypto
import Foundation
import PushTypes

/// The name and the secret of a new node.
struct NodeCredentials: Hashable, Sendable {
    /// 128 bits, in hexadecimal.
    let node: String
    /// 192 bits, in base64url; empty for none.
    let secret: String

    var secretHash: Data { Data(SHA256.hash(data: Data(self.secret.utf8))) }

    /// Makes credentials that nothing leads to.
    init() {
        self.node = Hexadecimal.encode(RandomBytes.make(16))
        self.secret = Base64URL.encode(RandomBytes.make(24))
    }

    /// Makes the credentials of a device that registers itself, the same ones each time.
    /// - Parameters:
    ///   - seed: A text that only this provider can make of the device.
    ///   - hasSecret: `false` leaves the secret out, for clients that know none.
    init(seed: String, hasSecret: Bool) {
        let digest = Array(SHA512.hash(data: Data(seed.utf8)))
        self.node = Hexadecimal.encode(digest.prefix(16))
        self.secret = hasSecret ? Base64URL.encode(digest.dropFirst(16).prefix(24)) : ""
    }
}
