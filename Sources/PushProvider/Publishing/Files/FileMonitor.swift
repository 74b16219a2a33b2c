package import Logging
package import ProviderModel
package import PushStore
import ServiceLifecycle
import Synchronization

/// Finds files that issues use but that are missing on disk, such as after a restore without the folder of files.
package final class FileMonitor: Service {
    /// The time between two checks of all files. A file that a download finds missing is recorded immediately.
    private static let interval: Duration = .seconds(3600)

    package let folder: FileFolder
    private let store: any FileStore
    private let logger: Logger
    private let known = Mutex(LostFiles())

    package init(store: any FileStore, folder: FileFolder, logger: Logger) {
        (self.store, self.folder, self.logger) = (store, folder, logger)
    }

    /// Checks the files every hour until graceful shutdown.
    package func run() async throws {
        let wake = WakeSignal()
        await wake.untilShutdown {
            repeat {
                do {
                    try await self.check()
                } catch {
                    guard !Task.isCancelled else { return }
                    self.logger.error("files of issues cannot be checked", metadata: ["error": "\(error)"])
                }
            } while await wake.wait(atMost: Self.interval)
        }
    }

    /// Checks all files that issues use, and logs the missing ones.
    package func check() async throws {
        var missing: [UsedFile] = []
        let folder = self.folder
        self.known.withLock { $0.beginCheck() }
        for byte in UInt8.min...UInt8.max where !Task.isShuttingDownGracefully {
            let files = try await self.store.usedFiles(beginning: byte)
            guard !files.isEmpty else { continue }
            missing += try await FileFolder.blocking { folder.missing(of: files) }
        }
        self.known.withLock { [missing] in $0.endCheck(missing) }
        guard !missing.isEmpty else { return }
        self.logger.error(
            "files of issues are missing",
            metadata: ["files": "\(MissingFilesText.text(missing, in: folder))"]
        )
    }

    package func noteMissing(_ file: UsedFile) { self.known.withLock { $0.note(file) } }

    /// Returns the files that are still missing, sorted by name.
    package func missing() async -> [UsedFile] {
        let (known, notes) = self.known.withLock { (Array($0.files), $0.notes) }
        guard !known.isEmpty else { return [] }
        let folder = self.folder
        let missing = (try? await FileFolder.blocking { folder.missing(of: known) }) ?? known
        self.known.withLock { $0.remove(Set(known).subtracting(missing), unlessNotedAfter: notes) }
        return missing.sorted { ($0.file.name, $0.file.hash.hex) < ($1.file.name, $1.file.hash.hex) }
    }
}

struct LostFiles {
    private(set) var files: Set<UsedFile> = []
    /// The number of records of a missing file, by which ``FileMonitor/missing()`` detects later ones.
    private(set) var notes = 0
    /// The files recorded since the last check of all files began. The check may have seen them before they were lost.
    private var noted: Set<UsedFile> = []

    mutating func note(_ file: UsedFile) {
        self.files.insert(file)
        self.noted.insert(file)
        self.notes += 1
    }

    mutating func beginCheck() { self.noted = [] }

    mutating func endCheck(_ missing: [UsedFile]) { self.files = self.noted.union(missing) }

    /// Removes files that were found again, unless a file was recorded as missing since the caller read ``notes``.
    mutating func remove(_ found: Set<UsedFile>, unlessNotedAfter notes: Int) {
        guard self.notes == notes else { return }
        self.files.subtract(found)
        self.noted.subtract(found)
    }
}

/// Describes the missing files that issues use, in a sentence.
package enum MissingFilesText {
    /// The maximum number of files that are listed by name. The others are only counted.
    private static let maximumNamed = 5

    package static let remedy = """
        Restore the folder of files from its backup, or upload the files again: martlet issue upload …
        """

    /// Returns a sentence with the number of missing files, the path of the folder, and the names of the first files.
    package static func text(_ missing: [UsedFile], in folder: FileFolder) -> String {
        let named = missing.prefix(Self.maximumNamed).map { "\($0.file.name) (\($0.file.hash.hex.prefix(8))…)" }
        let more = missing.count > Self.maximumNamed ? ", …" : ""
        let files = missing.count == 1 ? "1 file that an issue uses is" : "\(missing.count) files that issues use are"
        return "\(files) missing in \(folder.path): \(named.joined(separator: ", "))\(more)"
    }
}
