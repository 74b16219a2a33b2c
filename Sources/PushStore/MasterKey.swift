import Crypto
import Foundation
import PushSupport

/// Seals the secrets in a store with AES-256-GCM, each together with its place.
package struct MasterKey: Sendable {
    /// In bytes.
    package static let length = 32

    private let key: SymmetricKey

    /// `nil` unless there are 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.key = SymmetricKey(data: bytes)
    }

    /// The key in the file, 32 bytes; a new one, readable by the owner only, if there is no file.
    package static func load(orCreateAt path: String) throws -> MasterKey {
        if !FileManager.default.fileExists(atPath: path) {
            var generator = SystemRandomNumberGenerator()
            let bytes = (0..<Self.length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // What is sealed with it would be lost with it, so it is on disk before it is used.
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

    /// The key in the file; a new one only if the database holds no secrets.
    ///
    /// Beside secrets a new key could open none of them, and would hide that the right one is missing.
    /// - Throws: ``StoreError/missingMasterKey(path:database:)``, and ``StoreError`` for a database that cannot be read.
    package static func load(orCreateAt path: String, besideDatabase database: String) throws -> MasterKey {
        if !FileManager.default.fileExists(atPath: path), try SQLiteStoreFile(path: database).holdsSecrets() {
            throw StoreError.missingMasterKey(path: path, database: database)
        }
        return try Self.load(orCreateAt: path)
    }

    func seal(_ secret: String, for place: SecretContext) throws -> Data {
        let box = try AES.GCM.seal(Data(secret.utf8), using: self.key, authenticating: place.associatedData)
        guard let sealed = box.combined else { throw StoreError.wrongMasterKey }
        return sealed
    }

    /// - Throws: ``StoreError/wrongMasterKey`` too for a secret that was sealed for another place.
    func open(_ sealed: Data, for place: SecretContext) throws -> String {
        try self.open(sealed, authenticating: place.associatedData)
    }

    /// Opens what versions before migration 7 sealed, without a place.
    func openWithoutPlace(_ sealed: Data) throws -> String {
        try self.open(sealed, authenticating: [])
    }

    private func open(_ sealed: Data, authenticating place: [UInt8]) throws -> String {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let text = try? AES.GCM.open(box, using: self.key, authenticating: place)
        else {
            throw StoreError.wrongMasterKey
        }
        return String(decoding: text, as: UTF8.self)
    }
}
