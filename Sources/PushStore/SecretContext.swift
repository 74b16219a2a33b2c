import Foundation
import PushTypes

/// The place of a secret in a store.
///
/// A secret is sealed together with its place, so that it cannot be opened at another one: a row with the secret of another
/// app or webhook is as good as damaged.
enum SecretContext: Hashable, Sendable {
    case credential(app: Int64, PushEnvironment)
    case webhook(UUID, app: Int64)
    case providerToken(ProviderTokenKey)
    /// The mark that a master key is known by.
    case mark

    /// The associated data of AES-GCM. No two places have the same.
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
