import Crypto
import Foundation
package import PushTypes
import Synchronization

/// A signer that creates the provider tokens of one key, and uses each for as long as the push service allows (APNs
/// APNs reference 2.1). Apple rejects tokens that are older than 60 minutes, and tokens that change more often than
/// every 20 minutes. Both times are measured by the wall clock, like the claim `iat`. A clock that is set to another
/// time must not lead to more tokens.
package struct ProviderTokenSigner: Sendable {
    /// The age at which a token is replaced.
    package static let lifetime: Duration = .seconds(50 * 60)
    /// The minimum time between the issue of two tokens.
    package static let spacing: Duration = .seconds(20 * 60)
    /// The maximum number of earlier tokens that are kept. Beyond that, the oldest is dropped. Only a clock that is
    /// repeatedly set back and forth requires more.
    private static let memory = 16

    private struct Issued {
        var text: String
        var at: Timestamp
        var isExpired = false

        /// Returns whether `now` is too close to the issue of this token for another token to be issued.
        func blocksAnother(at now: Timestamp) -> Bool {
            let distance = max(now.since(self.at), self.at.since(now))
            return distance < ProviderTokenSigner.spacing
        }

        func isDue(at now: Timestamp) -> Bool {
            guard !self.blocksAnother(at: now) else { return false }
            return self.isExpired || now < self.at || now.since(self.at) >= ProviderTokenSigner.lifetime
        }
    }

    private let key: ProviderKey
    private var current: Issued?
    /// The tokens that were in use earlier, the newest last.
    private var earlier: [Issued] = []

    /// Creates a signer, which signs its first token when one is requested.
    package init(key: ProviderKey) { self.key = key }

    /// The time at which the token in use will be replaced, unless the clock is set to another time, or `nil` before
    /// the first token.
    package var renewAt: Timestamp? {
        self.current.map { $0.at.advanced(by: $0.isExpired ? Self.spacing : Self.lifetime) }
    }

    /// Returns the token for a request at `now`. This is the token in use while its age is between -20 and 50 minutes.
    ///
    /// Otherwise, it signs a new token, or returns an earlier one that was issued within 20 minutes of `now`, before
    /// the clock was set to another time.
    /// - Throws: An error of swift-crypto if it cannot sign.
    package mutating func text(now: Timestamp) throws -> String {
        if let current, !current.isDue(at: now) { return current.text }
        let next: Issued
        if let index = self.earlier.lastIndex(where: { $0.blocksAnother(at: now) }) {
            next = self.earlier.remove(at: index)
        } else {
            next = Issued(text: try Self.sign(key: self.key, issuedAt: now), at: now)
        }
        if let current { self.earlier = (self.earlier + [current]).suffix(Self.memory) }
        self.current = next
        return next.text
    }

    /// Handles the response `ExpiredProviderToken` to a request with the token `text`, so that the next request uses a
    /// new token. A token that is younger than 20 minutes stays in use, because the clocks disagree and another one
    /// would be rejected too. A token that is no longer in use is ignored, because many requests may have contained it.
    package mutating func tokenExpired(_ text: String, now: Timestamp) {
        guard let current, current.text == text, !current.blocksAnother(at: now) else { return }
        self.current?.isExpired = true
    }

    /// Returns a signed token. It consists of the header with `alg` and `kid`, the claims `iss` and `iat` in seconds,
    /// and the signature as raw r‖s, all in base64url without padding (RFC 7515).
    package static func sign(key: ProviderKey, issuedAt: Timestamp) throws -> String {
        // Both identifiers are letters and digits, which JSON does not escape.
        let header = Base64URL.encode(#"{"alg":"ES256","kid":"\#(key.keyID)"}"#.utf8)
        let claims = Base64URL.encode(#"{"iss":"\#(key.teamID)","iat":\#(issuedAt.seconds)}"#.utf8)
        let input = "\(header).\(claims)"
        let signature = try key.privateKey.signature(for: Data(input.utf8))
        return "\(input).\(Base64URL.encode(signature.rawRepresentation))"
    }
}

/// The source of one key's provider tokens, for all connections that use the key.
package protocol ProviderTokenSource: Sendable {
    /// Returns the token for requests at `now`. This method is called on event loops and must not block.
    /// - Throws: The error of the cryptography library if it cannot sign.
    func text(now: Timestamp) throws -> String
    /// Records that the push service rejected the token `text` as expired.
    func expired(_ text: String, now: Timestamp)
}

/// The provider token for all connections of a sender, in memory. The first connection that needs a new one signs it.
final class SharedProviderToken: ProviderTokenSource {
    private let token: Mutex<ProviderTokenSigner>

    init(_ key: ProviderKey) { self.token = Mutex(ProviderTokenSigner(key: key)) }

    func text(now: Timestamp) throws -> String { try self.token.withLock { try $0.text(now: now) } }

    func expired(_ text: String, now: Timestamp) { self.token.withLock { $0.tokenExpired(text, now: now) } }
}
