import Foundation
import PushTypes

/// The row that a secret belongs to.
///
/// A secret is sealed together with its context, so that it opens in no other row: a row with the secret of another app
/// or webhook counts as damaged.
enum SecretContext: Hashable, Sendable {
    case credential(app: Int64, PushEnvironment)
    case webhook(UUID, app: Int64)
    case providerToken(ProviderTokenKey)
    /// The known text by which a wrong master key is noticed.
    case mark

    /// The associated data of AES-GCM, different for any two contexts.
    var associatedData: [UInt8] {
        let text =
            switch self {
            case .credential(let app, let environment): "credential/\(app)/\(environment.rawValue)"
            case .webhook(let id, let app): "webhook/\(app)/\(id.uuidString)"
            case .providerToken(let key): "providerToken/\(key.teamID)/\(key.keyID)/\(key.fingerprint)"
            case .mark: "mark"
            }
        return Array("martlet/1/\(text)".utf8)
    }
}
