import Crypto
import Foundation
package import PushSupport
package import PushTypes

/// A browser's subscription: the URL to which messages are sent in POST requests, and the keys with which they are
/// encrypted. All of it is secret, because anyone who knows the URL can send to the browser.
package struct WebPushSubscription: Hashable, Sendable {
    /// The maximum length of the URL, in bytes. A subscription with a longer one is rejected.
    package static let maximumEndpoint = 2048

    package let endpoint: String
    package let keys: WebPushKeys

    package init(endpoint: String, keys: WebPushKeys) { (self.endpoint, self.keys) = (endpoint, keys) }

    /// Parses the JSON of a browser, `{"endpoint":…,"keys":{"p256dh":…,"auth":…}}`. Other members, which some browsers
    /// add, are ignored. The keys are base64url or base64, with or without padding.
    /// - Parameter path: The path of the object in the request, for error messages.
    /// - Throws: ``RequestError``, which names the member at fault.
    package init(_ json: JSONValue, at path: String) throws(RequestError) {
        func error(_ member: String, _ message: String) -> RequestError {
            RequestError(.invalid, code: "invalid_subscription", message: message, path: "\(path)\(member)")
        }
        guard case .object = json else { throw error("", "it must be the browser's subscription: an object") }
        guard let endpoint = json["endpoint"].stringValue,
            (1...Self.maximumEndpoint).contains(endpoint.utf8.count),
            endpoint.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
        else { throw error(".endpoint", "a URL of 1 to \(Self.maximumEndpoint) visible ASCII characters is required") }
        guard let publicKey = Self.bytes(json["keys"]["p256dh"]) else {
            throw error(".keys.p256dh", "the public key is required, in base64url")
        }
        guard let secret = Self.bytes(json["keys"]["auth"]), secret.count == WebPushKeys.secretLength else {
            throw error(".keys.auth", "the secret of \(WebPushKeys.secretLength) bytes is required, in base64url")
        }
        guard let keys = WebPushKeys(publicKey: publicKey, secret: secret) else {
            throw error(".keys.p256dh", "it must be a public key of P-256 in \(WebPushKeys.publicLength) bytes")
        }
        self.init(endpoint: endpoint, keys: keys)
    }

    private static func bytes(_ value: JSONValue) -> [UInt8]? {
        guard let text = value.stringValue, text.utf8.count <= 128 else { return nil }
        return Base64URL.decode(text).map(Array.init)
    }

    /// The token of the device that represents the subscription: the SHA-256 hash of the URL.
    package var token: DeviceToken {
        get throws {
            guard let token = DeviceToken(bytes: Array(SHA256.hash(data: Data(self.endpoint.utf8)))) else {
                throw RequestError(.internalError, code: "internal_error", message: "the token has no bytes")
            }
            return token
        }
    }

    /// The text that is encrypted for the store: the URL, the public key and the secret, one per line.
    package var text: String {
        [self.endpoint, Base64URL.encode(self.keys.publicKey), Base64URL.encode(self.keys.secret)]
            .joined(separator: "\n")
    }

    /// Parses a text that was created by ``text``. Returns `nil` for any other text.
    package init?(text: String) {
        // The bytes are split, because a carriage return and a line feed form a single character.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard lines.count == 3, let publicKey = Base64URL.decode(lines[1]), let secret = Base64URL.decode(lines[2]),
            let keys = WebPushKeys(publicKey: Array(publicKey), secret: Array(secret))
        else { return nil }
        self.init(endpoint: lines[0], keys: keys)
    }
}
