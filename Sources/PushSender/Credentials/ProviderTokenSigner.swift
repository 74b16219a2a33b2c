import Crypto
import Foundation
package import PushTypes

/// Makes the provider token of one key and keeps it for as long as the push service allows (reference 2.1).
///
/// Apple refuses a token older than 60 minutes, and one that changes more often than every 20. Both are counted by the
/// wall clock, because claim `iat` is; a clock that is set back or forth must not make tokens quicker than that.
package struct ProviderTokenSigner: Sendable {
    /// A token is replaced when it is this old.
    package static let lifetime: Duration = .seconds(50 * 60)
    /// No two tokens are issued closer together than this.
    package static let spacing: Duration = .seconds(20 * 60)
    /// How many earlier tokens are remembered; only a clock that jumps to and fro needs more than one.
    private static let memory = 16

    private struct Issued {
        var text: String
        var at: Timestamp
        /// The service called it expired.
        var isRefused = false

        /// Whether no other token may be issued at `now`.
        func forbidsAnother(_ now: Timestamp) -> Bool {
            let distance = max(now.since(self.at), self.at.since(now))
            return distance < ProviderTokenSigner.spacing
        }

        func isDue(_ now: Timestamp) -> Bool {
            guard !self.forbidsAnother(now) else { return false }
            return self.isRefused || now < self.at || now.since(self.at) >= ProviderTokenSigner.lifetime
        }
    }

    private let key: ProviderKey
    /// In use.
    private var current: Issued?
    /// In use earlier, the newest last.
    private var earlier: [Issued] = []

    package init(key: ProviderKey) {
        self.key = key
    }

    /// When the token in use is replaced, if the clock runs on as it should; `nil` before the first.
    package var renewAt: Timestamp? {
        self.current.map { $0.at.advanced(by: $0.isRefused ? Self.spacing : Self.lifetime) }
    }

    /// The token for a request at `now`: the one in use while its age is above -20 and below 50 minutes.
    ///
    /// After that a new one, or an earlier one that was issued within 20 minutes of `now` by a clock that jumps.
    /// - Throws: what the cryptography library throws if it cannot sign.
    package mutating func text(now: Timestamp) throws -> String {
        if let current, !current.isDue(now) { return current.text }
        let next: Issued
        if let index = self.earlier.lastIndex(where: { $0.forbidsAnother(now) }) {
            next = self.earlier.remove(at: index)
        } else {
            next = Issued(text: try Self.sign(key: self.key, issuedAt: now), at: now)
        }
        if let current { self.earlier = (self.earlier + [current]).suffix(Self.memory) }
        self.current = next
        return next.text
    }

    /// Notes that the service answered `ExpiredProviderToken` to `text`, so that the next request gets a new token.
    ///
    /// Nothing changes while the token is younger than 20 minutes, for then the clocks disagree and another token would
    /// be refused too; nor for a token that is no longer in use, which many requests at once may have carried.
    package mutating func refused(text: String, now: Timestamp) {
        guard let current, current.text == text, !current.forbidsAnother(now) else { return }
        self.current?.isRefused = true
    }

    /// Header `alg` and `kid`, claims `iss` and `iat` in seconds, signature as raw r‖s, base64url without padding.
    package static func sign(key: ProviderKey, issuedAt: Timestamp) throws -> String {
        // Both ids are letters and digits, so they need no escaping.
        let header = Self.base64URL(Data(#"{"alg":"ES256","kid":"\#(key.keyID)"}"#.utf8))
        let claims = Self.base64URL(Data(#"{"iss":"\#(key.teamID)","iat":\#(issuedAt.seconds)}"#.utf8))
        let input = "\(header).\(claims)"
        let signature = try key.privateKey.signature(for: Data(input.utf8))
        return "\(input).\(Self.base64URL(signature.rawRepresentation))"
    }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
