package import Foundation
package import Logging
package import NIOCore
package import ProviderModel
package import PushStore
package import PushSupport
import Synchronization

/// Receives uploads, which may be interrupted and continued at any byte that is on disk.
///
/// The row of an upload counts the bytes of its part that are on disk, and is written after them. If the part is
/// longer, for example after a crash, it is truncated to that length when the upload continues.
package final class UploadService: Sendable {
    /// The number of bytes after which a part is synced to disk and counted.
    static let step = 8 * 1024 * 1024

    private let store: any AppStore & FileStore
    private let folder: FileFolder
    private let maximum: Int
    /// The maximum total size of an app's files and incomplete uploads, in bytes, or `nil` for no limit.
    private let quota: Int?
    /// The maximum number of an app's files and incomplete uploads. Further uploads are refused.
    private let maximumFiles: Int
    /// The budget of uploads that are begun or received at the same time.
    private let places: Budget
    let room: UploadDiskSpace
    let hashes = UploadHashCache()
    private let time: any TimeSource
    private let logger: Logger
    private let receiving = Mutex<Set<UUID>>([])

    package init(
        store: any AppStore & FileStore,
        folder: FileFolder,
        settings: PublishingSettings,
        budgets: BudgetRegistry,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.folder) = (store, folder)
        (self.maximum, self.maximumFiles) = (settings.maximumFile, settings.maximumFiles)
        (self.quota, self.places) = (settings.quota > 0 ? settings.quota : nil, budgets[.uploads])
        self.room = UploadDiskSpace(folder: folder, reserved: budgets[.uploadedBytes])
        (self.time, self.logger) = (time, logger)
    }

    /// Begins an upload. The upload of a file that the app already has is complete immediately.
    /// - Throws: ``RequestError`` if the file is too large or exceeds a quota; ``RetryLaterError`` if too many uploads
    ///   are in progress; ``UploadFailure/full(_:)`` if the disk has no space.
    package func begin(_ upload: UploadRecord) async throws -> UploadRecord {
        guard upload.size <= self.maximum else {
            throw self.tooLarge(at: "size")
        }
        let hash = upload.hash
        let folder = self.folder
        // The upload of a known file waits while others place their contents one at a time, so it needs a place too.
        return try await self.withPlace(app: upload.app) { _ in
            let isKnown = try await self.store.file(hash, app: upload.app)?.size == upload.size
            let isWhole = try await FileFolder.blocking { folder.hasContent(hash, size: upload.size) }
            let isStored = isKnown && isWhole
            // The check reserves nothing. It refuses a file for which the disk has no room at all.
            if !isStored { try await self.checkRoom(for: upload.size) }
            try await self.add(upload)
            if isStored { _ = try await self.complete(upload, placing: false) }
            return try await self.store.upload(upload.id) ?? upload
        }
    }

    private func add(_ upload: UploadRecord) async throws {
        switch try await self.store.addUpload(upload, quota: self.quota, files: self.maximumFiles) {
        case .added: return
        case .tooMany: throw Self.tooMany
        case .tooManyFiles: throw self.tooManyFiles
        case .overQuota(let used): throw self.overQuota(used, for: upload.size)
        case .noApp:
            let message = "there is no app with this bundle id"
            throw RequestError(.notFound, code: "no_such_app", message: message, path: "app")
        }
    }

    /// Checks that the disk has space for this many bytes now.
    /// - Throws: ``UploadFailure/full(_:)`` if it has not.
    private func checkRoom(for size: Int) async throws {
        let folder = self.folder
        guard let room = try await FileFolder.blocking({ folder.room() }), room < size else { return }
        throw UploadFailure.full("it has room for \(max(0, room)) bytes")
    }

    /// Runs `body` with an upload permit.
    /// - Parameter body: The work. Its argument is the caller to which the app's reservations are charged.
    /// - Throws: ``RetryLaterError`` if the budget has no permit left.
    private func withPlace<Value>(app: Int64, _ body: (BudgetCaller) async throws -> Value) async throws -> Value {
        let caller = BudgetCaller(app: try await self.store.app(id: app)?.bundleID)
        let place: BudgetPermit
        do throws(BudgetRefusal) {
            place = try self.places.take(for: caller)
        } catch {
            throw error.error
        }
        defer { place.end() }
        return try await body(caller)
    }

    /// Checks, while bytes arrive, that the disk's reserve for the database is not in use.
    /// - Throws: ``UploadFailure/full(_:)`` if it is.
    private func checkReserve() async throws {
        let folder = self.folder
        guard let room = try await FileFolder.blocking({ folder.room() }), room < 0 else { return }
        throw UploadFailure.full("it has no room")
    }

    private func tooLarge(at path: String) -> RequestError {
        let message = "a file has at most \(self.maximum) bytes here"
        return RequestError(.tooLarge, code: "file_too_large", message: message, path: path)
    }

    private func overQuota(_ used: Int, for size: Int) -> RequestError {
        let message = """
            the app's files and uploads have \(used) of \(self.quota ?? 0) bytes, so that \(size) more do not fit: remove \
            issues, files or uploads, or raise serve.publishing.quota
            """
        return RequestError(.conflict, code: "quota_exceeded", message: message)
    }

    private var tooManyFiles: RequestError {
        let message = """
            the app has \(self.maximumFiles) files and uploads that are not complete, the most that it may: remove issues or uploads; \
            files that no issue uses are removed after a while
            """
        return RequestError(.conflict, code: "too_many_files", message: message)
    }

    private static var tooMany: RequestError {
        let message = "\(UploadRecord.maximumOfApp) uploads are not complete: finish or remove some first"
        return RequestError(.conflict, code: "too_many_uploads", message: message)
    }

    /// Writes bytes to the part of an upload, and completes the upload with its last byte.
    /// - Parameters:
    ///   - offset: The position of the first byte, which must be the upload's offset.
    ///   - body: The bytes, at most as many as are missing.
    /// - Returns: The upload with its new offset.
    /// - Throws: ``UploadFailure``, ``RequestError``, or the error of the body. Bytes that arrived before it are kept.
    package func receive<Body: AsyncSequence>(
        _ id: UUID,
        at offset: Int,
        _ body: Body
    ) async throws -> UploadRecord where Body.Element == ByteBuffer {
        guard self.receiving.withLock({ $0.insert(id).inserted }) else { throw UploadFailure.busy }
        defer { self.receiving.withLock { _ = $0.remove(id) } }
        guard let upload = try await self.store.upload(id) else { throw UploadFailure.missing }
        guard upload.completedAt == nil, upload.received == offset else {
            throw UploadFailure.wrongOffset(upload.received)
        }
        return try await self.withPlace(app: upload.app) { caller in
            do {
                guard var part = try await self.open(upload) else { return try await self.completed(upload) }
                try await self.receive(body, into: &part, of: upload, for: caller)
                return try await self.finish(part, of: upload, for: caller)
            } catch let failure as OpenFile.Failure {
                throw self.reported(failure, upload.id)
            }
        }
    }

    /// Removes an upload and its part. The file of a completed upload is kept.
    /// - Returns: `true` if it was removed, and `false` if there is no such upload.
    /// - Throws: ``UploadFailure/busy`` while bytes of the upload are received.
    package func remove(_ id: UUID) async throws -> Bool {
        guard self.receiving.withLock({ $0.insert(id).inserted }) else { throw UploadFailure.busy }
        defer {
            self.hashes.forget(id)
            self.receiving.withLock { _ = $0.remove(id) }
        }
        let folder = self.folder
        // The part is removed first, because on a full disk the database needs the room to delete the row.
        if try await self.store.upload(id) != nil { try await FileFolder.blocking { folder.removePart(of: id) } }
        return try await self.store.deleteUpload(id)
    }
}

// MARK: Parts

extension UploadService {
    private struct OpenPart: Sendable {
        let file: OpenFile
        /// The hash of all bytes, or `nil` until it is required.
        var hash: IncrementalHash?
        /// The number of bytes that are on disk and counted by the upload's row.
        var counted: Int

        var count: Int { self.hash?.count ?? self.counted }
    }

    /// Opens the part, truncated to the bytes that the row counts, or returns `nil` if the part was already renamed to
    /// the file, which happens if the process crashes before it writes the row.
    private func open(_ upload: UploadRecord) async throws -> OpenPart? {
        let (folder, received) = (self.folder, upload.received)
        let (file, length) = try await FileFolder.blocking { () -> (OpenFile, Int?) in
            let file = try folder.part(of: upload.id)
            let length = try file.length()
            if length == 0, received == upload.size, folder.hasContent(upload.hash, size: received) {
                return (file, nil)
            }
            if length > received { try file.truncate(to: received) }
            return (file, min(length, received))
        }
        guard let length else { return nil }
        guard length == received else {
            // The row counts more bytes than the part has: the database or the folder was restored from a backup.
            self.hashes.forget(upload.id)
            _ = try await self.store.noteUpload(upload.id, received: length, now: self.time.recorded)
            throw UploadFailure.wrongOffset(length)
        }
        return OpenPart(file: file, counted: received)
    }

    private func hash(
        of part: OpenPart,
        _ upload: UploadRecord,
        for caller: BudgetCaller
    ) async throws -> IncrementalHash {
        if let hash = part.hash { return hash }
        return try await self.hashes.hash(of: part.file, upTo: part.counted, of: upload, for: caller)
    }

    private func receive<Body: AsyncSequence>(
        _ body: Body,
        into part: inout OpenPart,
        of upload: UploadRecord,
        for caller: BudgetCaller
    ) async throws where Body.Element == ByteBuffer {
        var room = UploadReservation(self.room, app: upload.app, for: caller, from: part.count, size: upload.size)
        do {
            // An empty body needs no hash.
            for try await buffer in body where buffer.readableBytes > 0 {
                guard part.count + buffer.readableBytes <= upload.size else {
                    let message = "the file has \(upload.size) bytes, and more were sent"
                    throw RequestError(.invalid, code: "too_many_bytes", message: message)
                }
                let hash = try await self.hash(of: part, upload, for: caller)
                try await room.extend(to: hash.count + buffer.readableBytes)
                part.hash = try await Self.write(buffer, to: part.file, hash)
                room.settle(upTo: part.count)
                if part.count - part.counted >= Self.step { part.counted = try await self.count(part, of: upload) }
            }
            part.counted = try await self.count(part, of: upload)
        } catch {
            // The arrived bytes are counted, even if the request was cancelled, so that they need not be sent again.
            _ = try? await Task { [part] in try await self.count(part, of: upload) }.value
            throw error
        }
    }

    private static func write(_ buffer: ByteBuffer, to file: OpenFile, _ hash: IncrementalHash) async throws
        -> IncrementalHash
    {
        try await FileFolder.blocking {
            try buffer.withUnsafeReadableBytes { try file.write($0, at: hash.count) }
            return hash.adding(buffer)
        }
    }

    /// Syncs the part to disk, and then counts its bytes in the upload's row.
    /// - Returns: The number of counted bytes.
    private func count(_ part: OpenPart, of upload: UploadRecord) async throws -> Int {
        guard let hash = part.hash, hash.count > part.counted else { return part.counted }
        try await self.checkReserve()
        try await FileFolder.blocking { try part.file.sync() }
        guard try await self.store.noteUpload(upload.id, received: hash.count, now: self.time.recorded) else {
            throw UploadFailure.missing
        }
        self.hashes.remember(hash, of: upload)
        return hash.count
    }

    /// Completes the upload if its part has all bytes and the announced hash. An incomplete one is returned unchanged.
    /// - Throws: ``UploadFailure/wrongHash`` for another hash. The upload then starts from the beginning.
    private func finish(
        _ part: OpenPart,
        of upload: UploadRecord,
        for caller: BudgetCaller
    ) async throws -> UploadRecord {
        guard part.count == upload.size else { return try await self.present(upload) }
        guard try await self.hash(of: part, upload, for: caller).value == upload.hash else {
            _ = try await self.store.noteUpload(upload.id, received: 0, now: self.time.recorded)
            self.hashes.forget(upload.id)
            throw UploadFailure.wrongHash
        }
        // The hash is kept until the part is placed, which may fail.
        let completed = try await self.completed(upload)
        self.hashes.forget(upload.id)
        return completed
    }

    /// Completes the upload, whose part is whole or was already renamed to the file.
    private func completed(_ upload: UploadRecord) async throws -> UploadRecord {
        guard try await self.complete(upload, placing: true) != nil else { throw UploadFailure.missing }
        return try await self.present(upload)
    }

    private func present(_ upload: UploadRecord) async throws -> UploadRecord {
        guard let changed = try await self.store.upload(upload.id) else { throw UploadFailure.missing }
        return changed
    }

    /// Adds the file of an upload to its app and returns it, or returns `nil` if file or upload no longer exists.
    /// - Parameter placing: `true` to rename the part to the file first, and `false` if the app already has the file.
    private func complete(_ upload: UploadRecord, placing: Bool) async throws -> FileRecord? {
        let folder = self.folder
        return try await folder.whileUnchanged {
            if placing {
                try await FileFolder.blocking { try folder.place(upload.id, as: upload.hash) }
            } else {
                guard try await self.store.file(upload.hash, app: upload.app) != nil,
                    try await FileFolder.blocking({ folder.hasContent(upload.hash, size: upload.size) })
                else { return nil }
            }
            return try await self.store.completeUpload(upload.id, now: self.time.recorded)
        }
    }

    private func reported(_ failure: OpenFile.Failure, _ upload: UUID) -> UploadFailure {
        self.logger.error(
            "file cannot be stored",
            metadata: ["upload": "\(upload)", "error": "\(failure)", "folder": "\(self.folder.path)"]
        )
        return failure.isFull ? .full("\(failure)") : .unwritable
    }
}

/// A file that arrives in a single request. Its size and hash are not known in advance.
package struct NewFile: Hashable, Sendable {
    package var app: Int64
    /// The name of the file, or an empty string for a file that is named by its hash.
    package var name: String
    package var contentType: String
    /// The size that the sender announces, or `nil` if it announces none.
    package var announcedSize: Int?

    package init(app: Int64, name: String, contentType: String, announcedSize: Int? = nil) {
        (self.app, self.name, self.contentType) = (app, name, contentType)
        self.announcedSize = announcedSize
    }
}

extension UploadService {
    /// Receives a file in a single request. Nothing is kept of a file that does not arrive whole.
    /// - Parameter body: The bytes. An error of this sequence is rethrown.
    /// - Throws: ``RequestError``, ``UploadFailure``, or the error of the body.
    package func receive<Body: AsyncSequence>(
        _ file: NewFile,
        _ body: Body
    ) async throws -> FileRecord where Body.Element == ByteBuffer {
        if let size = file.announcedSize, size > self.maximum { throw self.tooLarge(at: "file") }
        return try await self.withPlace(app: file.app) { caller in
            var room = UploadReservation(self.room, app: file.app, for: caller, size: file.announcedSize)
            defer { room.releaseAll() }
            if let size = file.announcedSize, size > 0 {
                // A file without room now is refused before it is sent. Space is reserved only when bytes arrive.
                try await self.checkQuota(for: size, app: file.app)
                try await self.room.check(size, for: caller)
            }
            return try await self.receive(file, body, in: &room)
        }
    }

    private func receive<Body: AsyncSequence>(
        _ file: NewFile,
        _ body: Body,
        in room: inout UploadReservation
    ) async throws -> FileRecord where Body.Element == ByteBuffer {
        let (id, folder) = (UUID(), self.folder)
        return try await folder.whileReceiving(id) {
            do {
                return try await self.place(try await self.write(file, as: id, body, in: &room))
            } catch {
                // The task of its own also runs if the request was cancelled.
                await Task { [store = self.store] in
                    _ = try? await store.deleteUpload(id)
                    try? await FileFolder.blocking { folder.removePart(of: id) }
                }.value
                guard let failure = error as? OpenFile.Failure else { throw error }
                throw self.reported(failure, id)
            }
        }
    }

    /// Checks that further bytes fit into the quota of an app.
    /// - Returns: The number of bytes that the quota still allows.
    @discardableResult
    private func checkQuota(for count: Int, app: Int64) async throws -> Int {
        guard let quota = self.quota else { return .max }
        let used = try await self.store.storedBytes(app: app) + self.room.kept(app: app)
        guard count <= quota - used else { throw self.overQuota(used, for: count) }
        return quota - used
    }

    /// Writes the bytes to a part, and returns the record of an upload that is fully received.
    private func write<Body: AsyncSequence>(
        _ file: NewFile,
        as id: UUID,
        _ body: Body,
        in room: inout UploadReservation
    ) async throws -> UploadRecord where Body.Element == ByteBuffer {
        let folder = self.folder
        let part = try await FileFolder.blocking { try folder.part(of: id) }
        var hash = IncrementalHash()
        for try await bytes in body where bytes.readableBytes > 0 {
            guard hash.count + bytes.readableBytes <= self.maximum else { throw self.tooLarge(at: "file") }
            let end = hash.count + bytes.readableBytes
            if !room.includes(end) {
                try await room.extend(to: end, most: try await self.checkQuota(for: bytes.readableBytes, app: file.app))
                try await self.checkReserve()
            }
            hash = try await Self.write(bytes, to: part, hash)
            room.keep(upTo: hash.count)
        }
        guard hash.count > 0 else {
            throw RequestError(.invalid, code: "empty_file", message: "a file has 1 byte or more", path: "file")
        }
        try await FileFolder.blocking { try part.sync() }
        var upload = UploadRecord(
            id: id,
            app: file.app,
            size: hash.count,
            hash: hash.value,
            contentType: file.contentType,
            name: file.name.isEmpty ? hash.value.hex : file.name,
            createdAt: self.time.recorded
        )
        upload.received = hash.count
        return upload
    }

    private func place(_ upload: UploadRecord) async throws -> FileRecord {
        try await self.add(upload)
        guard let file = try await self.complete(upload, placing: true) else { throw UploadFailure.missing }
        return file
    }
}

/// The reason why bytes of an upload were not accepted.
package enum UploadFailure: Error, Hashable, Sendable {
    /// An upload that does not exist, or was removed meanwhile.
    case missing
    /// An upload of which another request is sending bytes.
    case busy
    /// A wrong offset. The associated value is the position of the next byte to send.
    case wrongOffset(Int)
    /// A hash of the received file that differs from the announced hash. The upload starts from the beginning.
    case wrongHash
    /// A full disk. The associated value states how much space is left.
    case full(String)
    /// A disk that cannot be written to.
    case unwritable
}
