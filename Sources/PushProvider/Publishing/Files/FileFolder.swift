package import Foundation
import NIOPosix
package import ProviderModel
import PushSupport
import Synchronization

/// The folder with the stored files, and with the parts of files that are being uploaded.
///
/// A file is named by its hash, so that equal files are stored once. A part becomes a file by a rename, so that a file
/// is either complete or absent, even after a power failure.
package struct FileFolder: Sendable {
    package let path: String
    /// Allows one task at a time to add or remove files.
    private let changes = CountingSemaphore(count: 1)
    private let receiving = ReceivedParts()
    private let freeBytes: @Sendable (_ path: String) -> Int?

    /// Creates a folder. `freeBytes` returns the free bytes of the disk beyond the reserve, or `nil` if they are
    /// unknown.
    package init(path: String, freeBytes: @escaping @Sendable (_ path: String) -> Int? = FileFolder.room(at:)) {
        (self.path, self.freeBytes) = (path, freeBytes)
    }

    private var uploads: String { "\(self.path)/uploads" }

    package func path(of hash: ContentHash) -> String { "\(self.path)/\(hash.hex.prefix(2))/\(hash.hex)" }

    package func path(ofUpload id: UUID) -> String { "\(self.uploads)/\(id.uuidString)" }

    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: 4)
        threads.start()
        return threads
    }()

    /// Runs blocking file operations on a thread of a dedicated pool.
    package static func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await self.threads.runIfActive(work)
    }

    /// Runs `body` while no other task adds or removes files.
    func whileUnchanged<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await self.changes.run(body)
    }

    /// Runs `body` while an upload's part, which has no database row yet, is protected from removal as abandoned.
    func whileReceiving<Value>(_ upload: UUID, _ body: () async throws -> Value) async throws -> Value {
        self.receiving.insert(upload)
        defer { self.receiving.remove(upload) }
        return try await body()
    }

    /// Returns the number of free bytes beyond the reserve, negative if that is in use, or `nil` if it is not known.
    package func room() -> Int? { self.freeBytes(self.path) }

    package static func room(at path: String) -> Int? {
        var status = statvfs()
        // The folder may not exist before the first upload.
        let folder = access(path, F_OK) == 0 ? path : URL(filePath: path).deletingLastPathComponent().path
        guard statvfs(folder, &status) == 0 else { return nil }
        func bytes(_ blocks: some BinaryInteger) -> Int {
            let (bytes, overflow) = Int(clamping: blocks).multipliedReportingOverflow(
                by: Int(clamping: status.f_frsize)
            )
            return overflow ? .max : bytes
        }
        return bytes(status.f_bavail) - DiskReserve.bytes(ofDisk: bytes(status.f_blocks))
    }

    /// Opens the part of an upload, and creates it if it does not exist.
    func part(of upload: UUID) throws -> OpenFile {
        guard DurableFile.makePrivateFolder(self.uploads) else { throw OpenFile.Failure.last }
        return try OpenFile(writing: self.path(ofUpload: upload))
    }

    /// Renames the part of an upload, which is complete and on disk, to the file with its hash.
    func place(_ upload: UUID, as hash: ContentHash) throws {
        // An existing content is replaced: it may be damaged, and the part has just been checked.
        let (part, target) = (self.path(ofUpload: upload), self.path(of: hash))
        let folder = URL(filePath: target).deletingLastPathComponent().path
        guard DurableFile.makePrivateFolder(folder), DurableFile.rename(part, to: target),
            DurableFile.sync(self.path)
        else { throw OpenFile.Failure.last }
    }

    /// Returns whether the folder contains a file with this hash and the right length.
    package func hasContent(_ hash: ContentHash, size: Int) -> Bool {
        (try? OpenFile(reading: self.path(of: hash)).length()) == size
    }

    /// Returns the first bytes of a file, from which the format of an image can be recognized.
    /// - Throws: ``OpenFile/Failure`` if the file cannot be read.
    package func beginning(of hash: ContentHash) throws -> [UInt8] {
        let file = try OpenFile(reading: self.path(of: hash))
        var bytes = [UInt8](repeating: 0, count: ImageFormat.recognizedLength)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return Array(bytes.prefix(count))
    }

    /// Returns the files that are absent from the folder or have another length.
    package func missing(of files: [UsedFile]) -> [UsedFile] {
        files.filter { !self.hasContent($0.file.hash, size: $0.file.size) }
    }

    func remove(_ hash: ContentHash) { unlink(self.path(of: hash)) }

    func removePart(of upload: UUID) { unlink(self.path(ofUpload: upload)) }

    /// Returns the ids of the uploads that have parts, except files that are being received in a single request.
    func parts() -> [UUID] {
        Self.names(in: self.uploads).compactMap(UUID.init(uuidString:)).filter { !self.receiving.contains($0) }
    }

    func contents(beginning byte: UInt8) -> [ContentHash] {
        let folder = String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        return Self.names(in: "\(self.path)/\(folder)").compactMap { ContentHash(hex: $0) }
    }

    private static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}

/// The ids of the parts of files that are being received in a single request. They have no row yet.
private final class ReceivedParts: Sendable {
    private let ids = Mutex<Set<UUID>>([])

    func insert(_ id: UUID) { self.ids.withLock { _ = $0.insert(id) } }

    func remove(_ id: UUID) { self.ids.withLock { _ = $0.remove(id) } }

    func contains(_ id: UUID) -> Bool { self.ids.withLock { $0.contains(id) } }
}
