import Foundation
import ProviderModel
import PushProvider
import PushSupport

/// The admin key that a provider issues if the store contains no key at all.
///
/// The listener is bound first, then the key is written to its file, and only then it is stored and valid. After a
/// crash at any point, the next start leads to a valid key:
///
/// | time of the crash | next start |
/// |---|---|
/// | before the key is stored | deletes the pending file, and issues another key |
/// | afterwards, before the file is renamed | renames the file |
struct FirstAdminKey: Sendable {
    /// The maximum size of a file that may contain a key, in bytes. A larger file is not read.
    private static let maximumFileSize = 1024

    /// The text of the key to issue, or `nil` if the store already contains a key, so that none is issued.
    let text: String?
    private let keys: APIKeys
    private let file: String?
    private let show: @Sendable (String) -> Void

    /// Recovers from a crash of an earlier start, and checks that the file can be written.
    /// - Parameters:
    ///   - file: The path of the file for the key, or `nil` to write no file.
    ///   - show: The closure that is called once with the key. With a file, the key is already valid. Without one, it
    ///     becomes valid immediately afterwards.
    /// - Throws: ``ProviderError/cannotWriteAdminKey(path:why:)`` for a file that contains anything but a key or cannot
    ///   be created.
    init(_ keys: APIKeys, file: String?, show: @escaping @Sendable (String) -> Void) async throws {
        (self.keys, self.file, self.show) = (keys, file, show)
        let isFirst = try await keys.isEmpty
        self.text = isFirst ? APIKeys.newText() : nil
        guard let file else { return }
        try await Self.recover(file, keys)
        guard isFirst else { return }
        // A file with a key that is not stored may be overwritten, because it is from an interrupted start or an older
        // database.
        if FileManager.default.fileExists(atPath: file), Self.key(in: file) == nil {
            throw ProviderError.cannotWriteAdminKey(path: file, why: "File exists")
        }
        // The check is done here, before any service runs that would have to be stopped.
        guard access(URL(filePath: file).deletingLastPathComponent().path, W_OK | X_OK) == 0 else {
            throw ProviderError.cannotWriteAdminKey(path: file, why: DurableFile.lastError)
        }
    }

    /// Writes the key to its file, and then stores it. Does nothing if ``text`` is `nil`. The server calls it when the
    /// listener is bound.
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

    /// Renames the pending file of an interrupted start if its key is valid, and otherwise deletes it.
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

    /// Returns the key in a file that contains nothing else, or `nil` for any other file.
    private static func key(in path: String) -> String? {
        let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? .max
        guard size <= Self.maximumFileSize, let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            return nil
        }
        let key = text.trimmingCharacters(in: .newlines)
        return APIKeys.isKey(key) ? key : nil
    }
}
