import Crypto
import Foundation
package import PushProtocol

/// Makes the provider token of one key and keeps it for as long as the push service allows (reference 2.1).
///
/// Apple refuses a token older than 60 minutes, and one that changes more often than every 20.
package struct ProviderToken: Sendable {
    /// A token is replaced when it is this old.
    package static let lifetime: Duration = .seconds(50 * 60)

    private let key: ProviderKey
    private var current: (text: String, issuedAt: Timestamp)?

    package init(key: ProviderKey) {
        self.key = key
    }

    /// The token for a request at `now`: the last one while it is young enough, else a new one.
    ///
    /// A clock that was set back makes a new one too: the old one would count as issued in the future.
    /// - Throws: what the cryptography library throws if it cannot sign.
    package mutating func text(now: Timestamp) throws -> String {
        if let current, now >= current.issuedAt, now.since(current.issuedAt) < Self.lifetime {
            return current.text
        }
        let text = try Self.sign(key: self.key, issuedAt: now)
        self.current = (text, now)
        return text
    }

    /// Header `alg` and `kid`, claims `iss` and `iat` in seconds, signature as raw r‖s, base64url without padding.
    private static func sign(key: ProviderKey, issuedAt: Timestamp) throws -> String {
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
