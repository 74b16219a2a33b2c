import Crypto
import Foundation
import PushProvider
import PushTypes

/// The pushkey of a pusher.
enum MatrixPushkey {
    /// The longest pushkey, in bytes (client-server API, pushers).
    static let maximumLength = 512

    /// Returns the device token that a pushkey is: hexadecimal, base64 or base64url, with or without padding; `nil` for any other text.
    static func token(_ text: String) -> DeviceToken? {
        guard text.utf8.count <= Self.maximumLength,
            let bytes = Hexadecimal.decode(text) ?? Base64URL.decode(text).map({ Array($0) }),
            let token = DeviceToken(bytes: bytes), token.bytes.count >= DeviceRequest.minimumToken
        else { return nil }
        return token
    }

    /// Returns `true` for the address of an endpoint of UnifiedPush.
    static func isAddress(_ text: String) -> Bool {
        text.utf8.count <= Self.maximumLength && (text.hasPrefix("https://") || text.hasPrefix("http://"))
    }

    /// Returns the beginning of the SHA-256 of a pushkey, by which a log can tell pushkeys apart.
    static func hash(_ text: String) -> String {
        Hexadecimal.encode(SHA256.hash(data: Data(text.utf8)).prefix(8))
    }
}
