import Crypto
import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The key that encrypts the secrets in a store with AES-256-GCM. Each secret is bound to the context of its row.
package struct MasterKey: Sendable {
    /// The length of a key in bytes.
    package static let length = 32

    private let key: SymmetricKey

    /// Creates a key from 32 bytes, or returns `nil` for any other number of bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.key = SymmetricKey(data: bytes)
    }

    /// Reads a key of 32 bytes from a file. If there is no file, it creates one with a new key, readable by its owner.
    /// - Throws: ``StoreError/badMasterKey(path:why:)`` if the file cannot be read or created, or has another length.
    package static func load(orCreateAt path: String) throws -> MasterKey {
        if !FileManager.default.fileExists(atPath: path) {
            let bytes = RandomBytes.make(Self.length)
            // The key is on disk before it is used. Otherwise secrets could be sealed with a key that is then lost.
            guard DurableFile.create(path, bytes) || FileManager.default.fileExists(atPath: path) else {
                throw StoreError.badMasterKey(path: path, why: "it cannot be written: \(DurableFile.lastError)")
            }
        }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw StoreError.badMasterKey(path: path, why: "it cannot be read: \(ErrorDescription.of(error))")
        }
        guard let key = MasterKey(bytes: Array(bytes)) else {
            throw StoreError.badMasterKey(path: path, why: "it must have \(Self.length) bytes, not \(bytes.count)")
        }
        return key
    }

    /// Returns a new secret of 256 bits, as 43 characters of base64url.
    static func randomText() -> String { Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }) }

    /// Encrypts a secret and binds it to its context, without which it cannot be opened.
    func seal(_ secret: String, for context: SecretContext) throws -> Data {
        let box = try AES.GCM.seal(Data(secret.utf8), using: self.key, authenticating: context.associatedData)
        guard let sealed = box.combined else { throw StoreError.wrongMasterKey }
        return sealed
    }

    /// Derives a secret from the key and a name, as 43 characters of base64url. Only the key's holder can derive it.
    func derive(_ name: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Data("martlet/1/derived/\(name)".utf8), using: self.key)
        return Base64URL.encode(code)
    }

    /// Returns 62 bits that identify an installation in one notification and cannot be linked across notifications.
    func pseudonym(of installation: String, app: Int64, notification: Int64) -> Int64 {
        let text = "martlet/1/receipt/\(app)/\(notification)/\(installation)"
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: self.key)
        return code.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) } & (1 << 62 - 1)
    }

    /// Decrypts a sealed secret.
    /// - Throws: ``StoreError/wrongMasterKey``, also for a secret that was sealed for another context.
    func open(_ sealed: Data, for context: SecretContext) throws -> String {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let text = try? AES.GCM.open(box, using: self.key, authenticating: context.associatedData)
        else { throw StoreError.wrongMasterKey }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A context to which a sealed secret is bound, such as a row of the database.
///
/// A secret can be opened only in the context for which it was sealed. A row with the secret of another one is damaged.
enum SecretContext: Hashable, Sendable {
    case credential(app: Int64, PushEnvironment)
    case webhook(UUID, app: Int64)
    case userSecret(UUID, app: Int64)
    case entitlementServer(app: Int64)
    case bridge(BridgeKind, name: String, app: Int64)
    case vapidKey(UUID, app: Int64)
    case webSubscription(DeviceToken, app: Int64)
    case pushResource(UUID, app: Int64)
    case chatSession(UUID, app: Int64)
    case providerToken(ProviderTokenKey)
    /// The context of the key that signs the download URLs of files.
    case addressKey
    /// The context of the mark, a known string by which a store checks at its start that it has the right master key.
    case mark

    /// The associated data for AES-GCM, which differs between any two contexts.
    var associatedData: [UInt8] {
        let text =
            switch self {
            case .credential(let app, let environment): "credential/\(app)/\(environment.rawValue)"
            case .webhook(let id, let app): "webhook/\(app)/\(id.uuidString)"
            case .userSecret(let id, let app): "userSecret/\(app)/\(id.uuidString)"
            case .entitlementServer(let app): "entitlementServer/\(app)"
            case .bridge(let kind, let name, let app): "bridge/\(app)/\(kind.rawValue)/\(name)"
            case .vapidKey(let id, let app): "vapidKey/\(app)/\(id.uuidString)"
            case .webSubscription(let token, let app): "webSubscription/\(app)/\(token.hex)"
            case .pushResource(let id, let app): "pushResource/\(app)/\(id.uuidString)"
            case .chatSession(let id, let app): "chatSession/\(app)/\(id.uuidString)"
            case .providerToken(let key): "providerToken/\(key.teamID)/\(key.keyID)/\(key.fingerprint)"
            case .addressKey: "addressKey"
            case .mark: "mark"
            }
        return Array("martlet/1/\(text)".utf8)
    }
}
