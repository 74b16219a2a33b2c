import Foundation
package import Logging
import ProviderModel
package import PushStore
package import PushTypes
import ServiceLifecycle
import Synchronization

/// Removes uploads that were not continued, and files that were not referenced, for ``PublishingSettings/keepsUnused``.
///
/// A file or part without a row in the database is removed only if it is that old and the provider has run for that
/// time, so that a start with the wrong database loses no file.
package final class FileCleaner: Sendable {
    /// The maximum number of rows that are deleted in one transaction.
    private static let batch = 1000

    private let store: any FileStore
    private let folder: FileFolder
    private let age: Duration
    private let logger: Logger
    /// The time of the first cleanup since the process started, or `nil` before it.
    private let beginning = Mutex<Timestamp?>(nil)

    package init(store: any FileStore, folder: FileFolder, settings: PublishingSettings, logger: Logger) {
        (self.store, self.folder, self.age) = (store, folder, settings.keepsUnused)
        self.logger = logger
    }

    /// Removes rows that have been unused for too long, and then the files without a row.
    ///
    /// This includes files that a crash left without a row.
    /// - Parameter now: The current time by the earlier of the two clocks.
    package func clean(now: Timestamp) async throws {
        let oldest = now.advanced(by: .zero - self.age)
        while try await self.store.forgetUploads(before: oldest, limit: Self.batch) > 0 {
            guard !Task.isShuttingDownGracefully else { return }
        }
        while try await self.store.forgetFiles(unusedSince: oldest, limit: Self.batch) > 0 {
            guard !Task.isShuttingDownGracefully else { return }
        }
        let first = self.beginning.withLock { beginning -> Timestamp in
            beginning = beginning ?? now
            return beginning ?? now
        }
        guard first <= oldest else { return }
        try await self.removeParts()
        var removed = 0
        for byte in UInt8.min...UInt8.max where !Task.isShuttingDownGracefully {
            removed += try await self.removeContents(beginning: byte, before: oldest)
        }
        guard removed > 0 else { return }
        self.logger.info("files that nothing refers to were removed", metadata: ["count": "\(removed)"])
    }

    private func removeParts() async throws {
        let folder = self.folder
        // The parts are listed before the rows, so that an upload that begins meanwhile has its row in the list.
        let parts = try await FileFolder.blocking { folder.parts() }
        let known = try await self.store.uploads()
        let abandoned = parts.filter { !known.contains($0) }
        guard !abandoned.isEmpty else { return }
        try await FileFolder.blocking { for part in abandoned { folder.removePart(of: part) } }
        self.logger.info("parts of uploads were removed", metadata: ["count": "\(abandoned.count)"])
    }

    /// Removes the files whose hash begins with `byte` and that have no row.
    /// - Returns: The number of removed files.
    private func removeContents(beginning byte: UInt8, before oldest: Timestamp) async throws -> Int {
        let folder = self.folder
        let contents = try await FileFolder.blocking { folder.contents(beginning: byte) }
        guard !contents.isEmpty else { return 0 }
        let known = try await self.store.fileHashes(beginning: byte)
        var removed = 0
        for content in contents where !known.contains(content) {
            guard try await self.removeIfUnknown(content, before: oldest) else { continue }
            self.logger.debug("file was removed", metadata: ["sha256": "\(content.hex.prefix(8))…"])
            removed += 1
        }
        return removed
    }

    /// Removes a file if it has no row and was last modified before `oldest`, and returns whether it was removed.
    private func removeIfUnknown(_ content: ContentHash, before oldest: Timestamp) async throws -> Bool {
        let folder = self.folder
        return try await folder.whileUnchanged {
            guard try await !self.store.hasFile(content) else { return false }
            return try await FileFolder.blocking {
                let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path(of: content))
                guard let modified = attributes?[.modificationDate] as? Date,
                    modified.timeIntervalSince1970 * 1000 < Double(oldest.milliseconds)
                else { return false }
                folder.remove(content)
                return true
            }
        }
    }
}
