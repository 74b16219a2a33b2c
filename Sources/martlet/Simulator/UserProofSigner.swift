import Crypto
import Foundation
import PushSupport
import PushTypes

/// Makes proofs of users, as the back end of an app does after their login: JWTs signed with HS256.
struct UserProofSigner: Sendable {
    /// The time for which a proof is valid, in seconds. The provider takes an hour at most.
    static let validity = 600

    /// The user secret of the app, `us_…`.
    let secret: String

    /// Returns a proof.
    /// - Parameter installation: The only installation that may use it; `nil` for any.
    func proof(ofUser user: String, installation: String? = nil, now: Date = Date()) throws -> String {
        let end = Int64(now.timeIntervalSince1970) + Int64(Self.validity)
        let claims = JSONValue.members([
            "sub": user.json, "exp": .integer(end), "installation": installation?.json,
        ])
        let signed = "\(Base64URL.encode(#"{"alg":"HS256"}"#.utf8)).\(Base64URL.encode(try claims.text))"
        let key = SymmetricKey(data: Data(self.secret.utf8))
        let signature = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)
        return "\(signed).\(Base64URL.encode(signature))"
    }
}
