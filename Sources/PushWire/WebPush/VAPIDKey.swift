import Crypto
import Foundation
import PushSupport
package import PushTypes

/// The key pair by which an application server identifies itself to push services (RFC 8292).
package struct VAPIDKey: Sendable {
    /// The maximum validity period of a token (RFC 8292 section 2).
    package static let longestValidity: Duration = .seconds(24 * 3600)
    /// The time by which a token may exceed ``longestValidity``, for senders whose clocks are ahead, because senders
    /// such as Mastodon always use the maximum.
    package static let clockTolerance: Duration = .seconds(300)

    private let key: P256.Signing.PrivateKey

    package init() { self.key = P256.Signing.PrivateKey() }

    /// Creates a key from a private key. Returns `nil` unless it is valid and has 32 bytes.
    package init?(privateKey: [UInt8]) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: privateKey) else { return nil }
        self.key = key
    }

    /// Parses a private key: 32 bytes in base64url or base64, or a PEM document. Returns `nil` for any other text.
    package init?(text: String) {
        let pem = (try? P256.Signing.PrivateKey(pemRepresentation: text))?.rawRepresentation
        guard let bytes = pem ?? Base64URL.decode(text) else { return nil }
        self.init(privateKey: Array(bytes))
    }

    /// The private key, which has 32 bytes.
    package var privateKey: [UInt8] { Array(self.key.rawRepresentation) }
    /// The public key, which has 65 bytes and is the `applicationServerKey` of subscriptions.
    package var publicKey: [UInt8] { Array(self.key.publicKey.x963Representation) }

    /// Returns the value of the header field `authorization` for requests to an origin.
    /// - Parameters:
    ///   - contact: The sender's contact address, a `mailto:` or `https:` URL.
    ///   - expires: The expiry of the token, at most 24 hours ahead.
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

/// The credential of an application server in a request: its public key and a token.
package struct VAPIDCredential: Hashable, Sendable {
    /// The reason why a credential is rejected.
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

    /// The maximum length of a token, in bytes. A longer one is rejected.
    private static let maximumToken = 4096

    package let token: String
    /// The public key of the application server, which has 65 bytes.
    package let publicKey: [UInt8]

    /// Parses the field `authorization`, and the field `crypto-key` in which senders of the drafts put the key. Returns
    /// `nil` unless they contain a token and a key.
    package init?(authorization: String?, cryptoKey: String? = nil) {
        guard let authorization, authorization.utf8.count <= 2 * Self.maximumToken else { return nil }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let (token, key): (String?, String?)
        switch parts[0].lowercased() {
        case "vapid":
            let parameters = HeaderParameters(list: String(parts[1]))
            (token, key) = (parameters["t"], parameters["k"])
        case "webpush", "bearer":
            (token, key) = (String(parts[1]), cryptoKey.flatMap { HeaderParameters(list: $0)["p256ecdsa"] })
        default: return nil
        }
        guard let token, token.utf8.count <= Self.maximumToken, let key,
            let bytes = Base64URL.decode(key), bytes.count == WebPushKeys.publicLength
        else { return nil }
        (self.token, self.publicKey) = (token, Array(bytes))
    }

    /// Checks the signature, the audience and the validity period of the token.
    /// - Parameters:
    ///   - key: The public key that the subscription accepts.
    ///   - origin: The origin of the push resource.
    /// - Throws: The first fault found.
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

/// The origin of a URL: scheme, host and port (RFC 6454).
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of the parsed beginning of a URL, in characters. The rest is ignored.
    private static let maximumLength = 512

    /// The origin as text, such as `https://push.example.org`, in lower case and without the scheme's default port.
    package let description: String

    /// Parses the origin of a URL with the scheme `https` or `http`. Returns `nil` for any other text.
    package init?(_ url: some StringProtocol) {
        let lowered = url.prefix(Self.maximumLength).lowercased()
        for (scheme, port) in [("https://", ":443"), ("http://", ":80")] where lowered.hasPrefix(scheme) {
            let rest = lowered.dropFirst(scheme.count)
            var authority = rest.prefix { !"/?#".contains($0) }
            guard authority.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), !authority.contains("@"),
                !authority.contains(","), Self.isHostAndPort(authority)
            else { return nil }
            if authority.hasSuffix(port) { authority = authority.dropLast(port.count) }
            self.description = scheme + authority
            return
        }
        return nil
    }

    /// Returns whether a text is a host, optionally with a port of up to five digits. One with colons must be in
    /// brackets.
    private static func isHostAndPort(_ text: Substring) -> Bool {
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return false }
            rest = text[end...].dropFirst()
        } else {
            rest = text.drop { $0 != ":" }
        }
        guard rest.count < text.count else { return false }
        let digits = rest.dropFirst()
        return rest.isEmpty
            || rest.first == ":" && (1...5).contains(digits.count) && digits.allSatisfy { ("0"..."9").contains($0) }
    }
}
