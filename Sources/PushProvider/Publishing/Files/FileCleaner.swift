package import PushStore
package import PushTypes
import ServiceLifecycle

/// Removes uploads that are not continued and files that nothing refers to, after their time.
package struct FileCleaner: Sendable {
    /// The number of rows deleted in one transaction.
    private static let batch = 1000

    private let store: any PublishingStore
    private let folder: FileFolder
    private let age: Duration

    package init(store: any PublishingStore, folder: FileFolder, settings: PublishingSettings) {
        (self.store, self.folder, self.age) = (store, folder, settings.keepsUnused)
    }

    /// Removes everything whose time is over, and then what no row names.
    ///
    /// A file that a crash left without its row is removed too.
    /// - Parameter now: The earlier of the two clocks.
    package func clean(now: Timestamp) async throws {
        let oldest = now.advanced(by: .zero - self.age)
        while try await self.store.forgetUploads(before: oldest, limit: Self.batch) > 0 {
            guard !Task.isShuttingDownGracefully else { return }
        }
        while try await self.store.forgetFiles(unusedSince: oldest, limit: Self.batch) > 0 {
            guard !Task.isShuttingDownGracefully else { return }
        }
        let folder = self.folder
        // A part is listed before its row: an upload that begins meanwhile is in the second list.
        let parts = try await FileFolder.blocking { folder.parts() }
        let known = try await self.store.uploads()
        let abandoned = parts.filter { !known.contains($0) }
        try await FileFolder.blocking { for part in abandoned { folder.removePart(of: part) } }
        for byte in UInt8.min...UInt8.max where !Task.isShuttingDownGracefully {
            let contents = try await FileFolder.blocking { folder.contents(beginning: byte) }
            guard !contents.isEmpty else { continue }
            let known = try await self.store.fileHashes(beginning: byte)
            for content in contents where !known.contains(content) { try await self.removeIfUnknown(content) }
        }
    }

    private func removeIfUnknown(_ content: ContentHash) async throws {
        let folder = self.folder
        try await folder.whileUnchanged {
            guard try await !self.store.hasFile(content) else { return }
            try await FileFolder.blocking { folder.remove(content) }
        }
    }
}
