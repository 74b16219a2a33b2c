import Crypto
import Foundation
import PushSupport
package import PushTypes

/// The key pair by which an application server identifies itself to push services (RFC 8292).
package struct VAPIDKey: Sendable {
    /// The longest time for which a token may be valid (RFC 8292 section 2).
    package static let longestValidity: Duration = .seconds(24 * 3600)
    /// The time by which a sender's clock may be ahead. Senders such as Mastodon always use the longest validity.
    package static let clockTolerance: Duration = .seconds(300)

    private let key: P256.Signing.PrivateKey

    /// Makes a new key.
    package init() { self.key = P256.Signing.PrivateKey() }

    /// Makes the key of a private key of 32 bytes; `nil` for others.
    package init?(privateKey: [UInt8]) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: privateKey) else { return nil }
        self.key = key
    }

    /// Reads a private key: 32 bytes in base64url or base64, or PEM text; `nil` for other text.
    package init?(text: String) {
        let pem = (try? P256.Signing.PrivateKey(pemRepresentation: text))?.rawRepresentation
        guard let bytes = pem ?? Base64URL.decode(text) else { return nil }
        self.init(privateKey: Array(bytes))
    }

    /// The private key, 32 bytes.
    package var privateKey: [UInt8] { Array(self.key.rawRepresentation) }
    /// The public key, 65 bytes: the `applicationServerKey` of subscriptions.
    package var publicKey: [UInt8] { Array(self.key.publicKey.x963Representation) }

    /// Returns the value of the header `authorization` for requests to an origin.
    /// - Parameters:
    ///   - contact: The address of whoever sends, a `mailto:` or `https:` URL.
    ///   - expires: The end of its validity, 24 hours ahead at most.
    /// - Throws: An error of the cryptography library.
    package func authorization(for origin: WebOrigin, contact: String, expires: Timestamp) throws -> String {
        let claims: JSONValue = .object([
            "aud": .string(origin.description), "exp": .integer(expires.seconds), "sub": .string(contact),
        ])
        let header = Base64URL.encode(#"{"typ":"JWT","alg":"ES256"}"#.utf8)
        let signed = "\(header).\(Base64URL.encode(try claims.text))"
        let signature = try self.key.signature(for: Data(signed.utf8)).rawRepresentation
        return "vapid t=\(signed).\(Base64URL.encode(signature)), k=\(Base64URL.encode(self.publicKey))"
    }
}

/// The identification of an application server that a request brings.
package struct VAPIDCredential: Hashable, Sendable {
    /// The reason for which an identification is not accepted.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case malformed, otherKey, signature, audience, expired, tooLong

        package var description: String {
            switch self {
            case .malformed: "the token cannot be read"
            case .otherKey: "the subscription accepts another key"
            case .signature: "the signature does not fit the key"
            case .audience: "the audience is another origin"
            case .expired: "the token has expired"
            case .tooLong: "the token expires more than 24 hours from now"
            }
        }
    }

    /// The longest token, in bytes.
    private static let maximumToken = 4096

    package let token: String
    /// The public key, 65 bytes.
    package let publicKey: [UInt8]

    /// Reads the header `authorization`, and the header `crypto-key` where senders of the drafts put the key; `nil` for
    /// headers without both.
    package init?(authorization: String?, cryptoKey: String? = nil) {
        guard let authorization, authorization.utf8.count <= 2 * Self.maximumToken else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let (token, key): (String?, String?)
        switch parts[0].lowercased() {
        case "vapid":
            let parameters = HeaderParameters(parts[1])
            (token, key) = (parameters["t"], parameters["k"])
        case "webpush", "bearer":
            (token, key) = (String(parts[1]), cryptoKey.flatMap { HeaderParameters($0)["p256ecdsa"] })
        default: return nil
        }
        guard let token, token.utf8.count <= Self.maximumToken, let key,
            let bytes = Base64URL.decode(key), bytes.count == WebPushKeys.publicLength
        else { return nil }
        (self.token, self.publicKey) = (token, Array(bytes))
    }

    /// Checks signature, audience and validity.
    /// - Parameters:
    ///   - key: The key that the subscription accepts.
    ///   - origin: The origin of the push resource.
    package func check(key: [UInt8], origin: WebOrigin, now: Timestamp) throws(Fault) {
        guard self.publicKey == key else { throw .otherKey }
        let parts = self.token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
            header["alg"] == .string("ES256"), let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        guard let key = try? P256.Signing.PublicKey(x963Representation: self.publicKey),
            let ecdsa = try? P256.Signing.ECDSASignature(rawRepresentation: signature),
            key.isValidSignature(ecdsa, for: signed)
        else { throw .signature }
        let audiences = [claims["aud"].stringValue].compactMap { $0 } + claims["aud"].elements.compactMap(\.stringValue)
        guard audiences.contains(where: { WebOrigin($0) == origin }) else { throw .audience }
        guard let expires = claims["exp"].numberValue.flatMap({ Int64(exactly: $0.rounded(.down)) }) else {
            throw .malformed
        }
        guard Timestamp(seconds: expires) > now else { throw .expired }
        let latest = now.advanced(by: VAPIDKey.longestValidity + VAPIDKey.clockTolerance)
        guard Timestamp(seconds: expires) <= latest else { throw .tooLong }
    }

    private static func json(_ part: Substring) -> JSONValue? {
        Base64URL.decode(part).flatMap { try? JSONValue(parsing: $0) }
    }
}
