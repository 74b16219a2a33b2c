import Foundation
import PushProvider
import PushStore
import PushSupport

/// The admin key that a provider makes while it has no key at all.
///
/// It is shown or written before it counts, and the API is bound before that. After a crash at any point the next start has
/// a key that works:
///
/// | crash | the next start |
/// |---|---|
/// | before the key is stored | forgets what was written, and makes another |
/// | after that, before the file has its name | gives the file its name |
struct FirstAdminKey: Sendable {
    /// Longest file that is looked into, in bytes.
    private static let maximumFile = 1024

    /// `nil` while another key is stored.
    let text: String?
    private let keys: APIKeys
    private let file: String?
    private let show: @Sendable (String) -> Void

    /// Ends what a crash has left, and checks that the file may be written.
    /// - Parameters:
    ///   - file: a file for the key; `nil` for none.
    ///   - show: called with the key, once, when it is kept.
    /// - Throws: ``ProviderError/cannotWriteAdminKey(path:why:)`` for a file that holds something else than a key.
    init(_ keys: APIKeys, file: String?, show: @escaping @Sendable (String) -> Void) async throws {
        (self.keys, self.file, self.show) = (keys, file, show)
        let isFirst = try await keys.isEmpty
        self.text = isFirst ? APIKeys.newText() : nil
        guard let file else { return }
        try await Self.recover(file, keys)
        // A key that is stored nowhere opens nothing: it is from a start that was cut off, or of keys that are gone.
        if isFirst, FileManager.default.fileExists(atPath: file), Self.key(in: file) == nil {
            throw ProviderError.cannotWriteAdminKey(path: file, why: "File exists")
        }
    }

    /// Keeps the key and lets it count. For when the API is bound.
    func issue() async throws {
        guard let text else { return }
        guard let file else {
            self.show(text)
            return try await self.store(text)
        }
        let pending = Self.pending(file)
        guard DurableFile.create(pending, Array("\(text)\n".utf8)) else {
            throw ProviderError.cannotWriteAdminKey(path: pending, why: DurableFile.lastError)
        }
        do {
            try await self.store(text)
        } catch {
            try? FileManager.default.removeItem(atPath: pending)
            throw error
        }
        try Self.name(pending, file)
        self.show(text)
    }

    private func store(_ text: String) async throws {
        _ = try await self.keys.issue(name: "first admin key", scopes: [.admin], text: text)
    }

    private static func recover(_ file: String, _ keys: APIKeys) async throws {
        let pending = Self.pending(file)
        guard FileManager.default.fileExists(atPath: pending), let text = Self.key(in: pending) else { return }
        if try await keys.check(text) != nil {
            try Self.name(pending, file)
        } else {
            try? FileManager.default.removeItem(atPath: pending)
        }
    }

    private static func pending(_ file: String) -> String { "\(file).new" }

    private static func name(_ pending: String, _ file: String) throws {
        guard DurableFile.rename(pending, to: file) else {
            throw ProviderError.cannotWriteAdminKey(path: file, why: DurableFile.lastError)
        }
    }

    /// The key that is all that a file holds; `nil` for any other file.
    private static func key(in path: String) -> String? {
        let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? .max
        guard size <= Self.maximumFile, let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            return nil
        }
        let key = text.trimmingCharacters(in: .newlines)
        return APIKeys.isKey(key) ? key : nil
    }
}
