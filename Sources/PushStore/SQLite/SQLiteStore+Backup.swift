import Foundation
import GRDB
import PushProtocol

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension SQLiteStore {
    /// Copies everything as it is now to a file of its own, while work goes on. The master key is not in it.
    ///
    /// Writers never wait for the copy; what they write meanwhile stays in the log until it is made. Half of the time the
    /// copy rests, so that others get at the disk too.
    /// - Parameter path: of a file that is not there yet; it appears once it is whole.
    /// - Parameter progress: told of the share that is copied, 0 to 1.
    /// - Throws: ``StoreError``.
    package func backup(to path: String, progress: @Sendable @escaping (Double) -> Void = { _ in }) async throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw StoreError.cannotBackUp(path: path, why: "there is a file already")
        }
        let copy = BackupFile(path: path)
        do {
            try copy.remove()
            try await self.copy(to: copy, progress)
            try copy.finish()
        } catch {
            try? copy.remove()
            switch error {
            case let error as DatabaseError:
                throw StoreError.cannotBackUp(path: path, why: error.message ?? "\(error.resultCode)")
            case StoreError.cannotWrite(let why): throw StoreError.cannotBackUp(path: path, why: why)
            default: throw error
            }
        }
    }

    private func copy(to copy: BackupFile, _ progress: @Sendable @escaping (Double) -> Void) async throws {
        let queue = try DatabaseQueue(path: copy.temporary)
        defer { try? queue.close() }
        // On the reader's own thread, which may rest.
        try await self.database.read { source in
            var stepBegan = ContinuousClock.now
            try queue.writeWithoutTransaction { destination in
                try source.backup(to: destination, pagesPerStep: BackupFile.pagesPerStep) { state in
                    guard state.totalPageCount > 0 else { return }
                    progress(Double(state.completedPageCount) / Double(state.totalPageCount))
                    guard !state.isCompleted else { return }
                    let time = min(ContinuousClock.now - stepBegan, .milliseconds(500))
                    Thread.sleep(forTimeInterval: time / .seconds(1))
                    stepBegan = .now
                }
            }
        }
        let faults = try await queue.read { try String.fetchAll($0, sql: "PRAGMA quick_check(3)") }
        guard faults == ["ok"] else {
            throw StoreError.cannotBackUp(
                path: copy.path,
                why: "the copy is damaged: \(faults.joined(separator: "; "))"
            )
        }
    }
}

/// A copy that is being made beside the place where it will stand.
private struct BackupFile: Sendable {
    /// 4 MB.
    static let pagesPerStep: CInt = 1000

    let path: String
    var temporary: String { "\(self.path).part" }

    /// Whatever an earlier attempt has left too.
    func remove() throws {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let file = self.temporary + suffix
            guard FileManager.default.fileExists(atPath: file) else { continue }
            try FileManager.default.removeItem(atPath: file)
        }
    }

    func finish() throws {
        guard chmod(self.temporary, 0o600) == 0, DurableFile.sync(self.temporary),
            DurableFile.place(self.temporary, at: self.path)
        else { throw StoreError.cannotBackUp(path: self.path, why: "it cannot be written: \(DurableFile.lastError)") }
    }
}
