import Crypto
import Foundation
package import ProviderModel
package import PushSupport
package import PushTypes

/// The proof that an installation belongs to a user: a JWT that the app's back end has signed with HS256.
///
/// Its claims are `sub`, the user, and `exp`, at most an hour from now. With the claim `installation` the proof is
/// valid for that installation only. Without it, a stolen proof can be used until it expires.
package struct UserProof: Hashable, Sendable {
    /// The maximum length of a proof, in bytes. A longer one is rejected.
    package static let maximumLength = InstallationRequest.maximumProof
    /// The maximum time until a proof expires. A proof that is valid for longer is rejected.
    package static let maximumLifetime: Duration = .seconds(3600)
    /// The tolerated difference between the clocks of the back end and of the provider.
    private static let clockSkew: Duration = .seconds(60)

    package let user: String

    /// Verifies a proof, and reads its user. It must be signed with one of `secrets`, and name `installation` or none.
    /// - Throws: ``RequestError`` that describes the fault of the proof.
    package init(
        _ text: String,
        secrets: [UserSecretRecord],
        installation: String,
        now: Timestamp
    ) throws(RequestError) {
        guard !secrets.isEmpty else { throw Self.error("the app has no user secret: add one first") }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.maximumLength, parts.count == 3,
            let header = JSONValue.members(base64URL: parts[0]),
            let signature = Base64URL.decode(parts[2])
        else { throw Self.error("it is no JWT of at most \(Self.maximumLength) bytes") }
        guard header["alg"] == .string("HS256"), header["crit"] == nil else {
            throw Self.error("it must be signed with HS256")
        }
        let signed = Data("\(parts[0]).\(parts[1])".utf8)
        let isSigned = secrets.contains { secret in
            HMAC<SHA256>.isValidAuthenticationCode(
                signature,
                authenticating: signed,
                using: SymmetricKey(data: Data(secret.secret.utf8))
            )
        }
        guard isSigned, let claims = JSONValue.members(base64URL: parts[1]) else {
            throw Self.error("it is not signed with a user secret of this app")
        }
        guard let end = Self.time(claims["exp"]) else { throw Self.error("it has no claim exp, in seconds") }
        guard now < end else { throw Self.error("it has expired") }
        guard end <= now.advanced(by: Self.maximumLifetime + Self.clockSkew) else {
            throw Self.error("its exp is more than an hour from now")
        }
        for name in ["nbf", "iat"] where claims[name] != nil {
            guard let start = Self.time(claims[name]) else { throw Self.error("its \(name) is no time in seconds") }
            guard start <= now.advanced(by: Self.clockSkew) else { throw Self.error("its \(name) is in the future") }
        }
        if let bound = claims["installation"], bound != .string(installation) {
            throw Self.error("it is for another installation")
        }
        guard case .string(let user)? = claims["sub"], (1...Member.maximumText).contains(user.utf8.count),
            !user.utf8.contains(0)
        else { throw Self.error("its sub is no user id of 1 to \(Member.maximumText) bytes without a NUL") }
        self.user = user
    }

    private static func error(_ message: String) -> RequestError {
        RequestError(.forbidden, code: "invalid_user_proof", message: message, path: "userProof")
    }

    private static func time(_ claim: JSONValue?) -> Timestamp? {
        switch claim {
        case .integer(let seconds): Timestamp(seconds: seconds)
        case .number(let seconds) where abs(seconds) < 1e12: Timestamp(seconds: Int64(seconds))
        default: nil
        }
    }
}
