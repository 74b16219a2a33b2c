import Crypto
import Foundation
import PushSupport
import PushTypes

/// The claims of a provider token with a valid signature.
struct VerifiedProviderToken: Hashable, Sendable {
    var key: RegisteredKey
    var issuedAt: Timestamp
    var algorithm = ProviderTokenAlgorithm.es256

    /// Returns the reason for rejecting the token at `now`, or `nil` if it is valid.
    func rejection(at now: Timestamp) -> Reason? {
        let age = now.since(self.issuedAt)
        if age > ProviderTokenVerifier.tolerance { return .expiredProviderToken }
        return age < .zero - ProviderTokenVerifier.tolerance ? .invalidProviderToken : nil
    }
}

/// Verifies provider tokens as leniently as Apple does (reference 2.1, "what real clients send").
enum ProviderTokenVerifier {
    /// The maximum length of a token, in bytes. A longer one is invalid. Real tokens have less than 300 bytes.
    static let maximumLength = 4096
    /// The maximum age of a token, and the maximum time by which its issue time may lie in the future: an hour.
    static let tolerance: Duration = .seconds(3600)

    /// Returns the claims of a token that a registered key signed, whatever its issue time, or `nil` for any other
    /// token.
    /// - Parameters:
    ///   - algorithms: The algorithms that are accepted.
    ///   - key: Returns the registered key with an id, or `nil` if there is none or it was revoked.
    static func signed(
        _ token: String,
        algorithms: Set<ProviderTokenAlgorithm>,
        key: (String) -> RegisteredKey?
    ) -> VerifiedProviderToken? {
        guard token.utf8.count <= Self.maximumLength else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = JSONValue.members(base64URL: parts[0]), case .string(let name) = header["alg"],
            let algorithm = ProviderTokenAlgorithm(rawValue: name), algorithms.contains(algorithm),
            case .string(let keyID) = header["kid"], let registered = key(keyID),
            let publicKey = try? P256.Signing.PublicKey(x963Representation: registered.publicKey),
            let signature = Base64URL.decode(parts[2]),
            Self.isValid(signature, for: Data("\(parts[0]).\(parts[1])".utf8), algorithm, by: publicKey),
            let claims = JSONValue.members(base64URL: parts[1]), claims["iss"] == .string(registered.teamID),
            let issuedAt = Self.seconds(claims["iat"]).map(Timestamp.init(seconds:))
        else { return nil }
        return VerifiedProviderToken(key: registered, issuedAt: issuedAt, algorithm: algorithm)
    }

    /// Returns whether the key signed `input`, for a signature in the raw form r‖s or in ASN.1 DER.
    private static func isValid(
        _ bytes: Data,
        for input: Data,
        _ algorithm: ProviderTokenAlgorithm,
        by key: P256.Signing.PublicKey
    ) -> Bool {
        guard let signature = Self.raw(bytes, algorithm) ?? (try? .init(derRepresentation: bytes)) else { return false }
        return switch algorithm {
        case .es256: key.isValidSignature(signature, for: SHA256.hash(data: input))
        case .es512: key.isValidSignature(signature, for: SHA512.hash(data: input))
        }
    }

    /// Parses a signature in the raw form r‖s. Returns `nil` if it has another form.
    private static func raw(_ bytes: Data, _ algorithm: ProviderTokenAlgorithm) -> P256.Signing.ECDSASignature? {
        switch (bytes.count, algorithm) {
        case (64, _): return try? .init(rawRepresentation: bytes)
        case (132, .es512):
            let (first, second) = (bytes.prefix(66), bytes.suffix(66))
            guard (first.prefix(34) + second.prefix(34)).allSatisfy({ $0 == 0 }) else { return nil }
            return try? .init(rawRepresentation: first.suffix(32) + second.suffix(32))
        default: return nil
        }
    }

    /// Parses the issue time `iat`: an integer, a fraction, or a string with either. Returns `nil` for other values.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        switch value {
        case .integer(let seconds): seconds
        case .number(let seconds): Int64(exactly: seconds.rounded(.down))
        case .string(let text): Double(text).flatMap { Int64(exactly: $0.rounded(.down)) }
        default: nil
        }
    }
}
