import Crypto
package import Foundation
package import Logging
package import NIOCore
package import PushStore
package import PushSupport
import PushTypes
import Synchronization

/// Receives the files of uploads, which may be interrupted and continued at any byte that is on disk.
///
/// The bytes of a part that the row of its upload counts are on disk: the row follows the file. A part that is longer,
/// as after a crash, is cut to that length when the upload continues.
package final class UploadService: Sendable {
    /// The bytes after which a part is written to disk, and counted.
    static let step = 8 * 1024 * 1024
    /// The most uploads whose hashes so far are remembered.
    private static let rememberedHashes = 256

    /// The uploads that are being received, and the hashes of their parts.
    private struct State {
        var receiving: Set<UUID> = []
        var hashes: [UUID: PartHash] = [:]
    }

    let store: any PublishingStore & AppStore
    let folder: FileFolder
    let maximum: Int
    /// The maximum bytes of an app; `nil` for no limit.
    let quota: Int?
    /// The places of the uploads that are being received.
    private let places: Budget
    let room: UploadRoom
    let time: any TimeSource
    private let logger: Logger
    private let state = Mutex(State())

    package init(
        store: any PublishingStore & AppStore,
        folder: FileFolder,
        settings: PublishingSettings,
        budgets: Budgets,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.folder, self.maximum) = (store, folder, settings.maximumFile)
        (self.quota, self.places) = (settings.quota > 0 ? settings.quota : nil, budgets[.uploads])
        self.room = UploadRoom(folder: folder, reserved: budgets[.uploadedBytes])
        (self.time, self.logger) = (time, logger)
    }

    /// Begins an upload. A file that the app has already is complete at once.
    /// - Throws: ``RequestError``, also for a disk without room.
    package func begin(_ upload: UploadRecord) async throws -> UploadRecord {
        guard upload.size <= self.maximum else {
            throw self.tooLarge(at: "size")
        }
        let hash = upload.hash
        let folder = self.folder
        let isKnown = try await self.store.file(hash, app: upload.app)?.size == upload.size
        let isWhole = try await FileFolder.blocking { folder.hasContent(hash, size: upload.size) }
        let isStored = isKnown && isWhole
        // The check reserves nothing: it refuses a file for which there could never be room.
        if !isStored { try await self.checkRoom(for: upload.size) }
        try await self.add(upload)
        if isStored { _ = try await self.complete(upload, placing: false) }
        return try await self.store.upload(upload.id) ?? upload
    }

    /// Adds the row of an upload.
    func add(_ upload: UploadRecord) async throws {
        switch try await self.store.addUpload(upload, quota: self.quota) {
        case .added: return
        case .tooMany: throw Self.tooMany
        case .overQuota(let used): throw self.overQuota(used, for: upload.size)
        }
    }

    /// Checks that the disk has room for bytes now.
    /// - Throws: ``UploadFailure/full(_:)``.
    private func checkRoom(for size: Int) async throws {
        let folder = self.folder
        guard let room = try await FileFolder.blocking({ folder.room() }), room < size else { return }
        throw UploadFailure.full("it has room for \(max(0, room)) bytes")
    }

    /// Runs `body` in the place of an upload that is received.
    /// - Parameter body: Takes the account of the app.
    /// - Throws: ``RetryLaterError`` if there is none.
    func withPlace<Value>(app: Int64, _ body: (BudgetCaller) async throws -> Value) async throws -> Value {
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

    /// Checks that the disk has not come to its reserve while bytes arrive.
    ///
    /// - Throws: ``UploadFailure/full(_:)``.
    func checkReserve() async throws {
        let folder = self.folder
        guard let room = try await FileFolder.blocking({ folder.room() }), room < 0 else { return }
        throw UploadFailure.full("it has no room")
    }

    func tooLarge(at path: String) -> RequestError {
        let message = "a file has at most \(self.maximum) bytes here"
        return RequestError(.tooLarge, code: "file_too_large", message: message, path: path)
    }

    func overQuota(_ used: Int, for size: Int) -> RequestError {
        let message = """
            the app's files and uploads have \(used) of \(self.quota ?? 0) bytes, so that \(size) more do not fit: remove \
            issues, files or uploads, or raise serve.publishing.quota
            """
        return RequestError(.conflict, code: "quota_exceeded", message: message)
    }

    static var tooMany: RequestError {
        let message = "\(UploadRecord.maximumOfApp) uploads are not complete: finish or remove some first"
        return RequestError(.conflict, code: "too_many_uploads", message: message)
    }

    /// Writes bytes to the part of an upload, and completes the upload with its last byte.
    /// - Parameters:
    ///   - offset: The position of the first byte, which must be the next one.
    ///   - body: The bytes, at most as many as are missing.
    /// - Returns: The upload after that.
    /// - Throws: ``UploadFailure``, ``RequestError``, or the error of the body. What has arrived by then is kept.
    package func receive<Body: AsyncSequence>(
        _ id: UUID,
        at offset: Int,
        _ body: Body
    ) async throws -> UploadRecord where Body.Element == ByteBuffer {
        guard self.state.withLock({ $0.receiving.insert(id).inserted }) else { throw UploadFailure.busy }
        defer { self.state.withLock { _ = $0.receiving.remove(id) } }
        guard let upload = try await self.store.upload(id) else { throw UploadFailure.missing }
        guard upload.completedAt == nil, upload.received == offset else {
            throw UploadFailure.wrongOffset(upload.received)
        }
        return try await self.withPlace(app: upload.app) { caller in
            do {
                guard var part = try await self.open(upload) else { return try await self.completed(upload) }
                try await self.receive(body, into: &part, of: upload, for: caller)
                return try await self.finish(part, of: upload)
            } catch let failure as OpenFile.Failure {
                throw self.reported(failure, upload.id)
            }
        }
    }

    /// Removes an upload and its part. A file that is complete stays.
    /// - Returns: `false` if there is none.
    package func remove(_ id: UUID) async throws -> Bool {
        guard self.state.withLock({ $0.receiving.insert(id).inserted }) else { throw UploadFailure.busy }
        defer { self.state.withLock { state in (state.hashes[id], _) = (nil, state.receiving.remove(id)) } }
        let folder = self.folder
        // The part goes first: on a full disk this makes the room that the database needs.
        if try await self.store.upload(id) != nil { try await FileFolder.blocking { folder.removePart(of: id) } }
        return try await self.store.deleteUpload(id)
    }
}

// MARK: Parts

extension UploadService {
    /// The part of an upload that is being received.
    private struct OpenPart: Sendable {
        let file: OpenFile
        var hash: PartHash
        /// The bytes that are on disk and counted.
        var counted: Int
    }

    /// Opens the part, cut to the bytes that are counted, with the hash of these; `nil` if the part is the content
    /// already, which only a crash before its row can have left.
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
            // The database is newer than its files: one of both was restored.
            _ = try await self.store.noteUpload(upload.id, received: length, now: self.time.recorded)
            throw UploadFailure.wrongOffset(length)
        }
        return OpenPart(file: file, hash: try await self.hash(of: file, upload), counted: received)
    }

    /// Returns the hash of the counted bytes, which is computed from the part if it is not remembered.
    private func hash(of file: OpenFile, _ upload: UploadRecord) async throws -> PartHash {
        let known = self.state.withLock { $0.hashes[upload.id] }
        if let known, known.count == upload.received { return known }
        var hash = PartHash()
        while hash.count < upload.received {
            try Task.checkCancellation()
            let end = min(upload.received, hash.count + Self.step)
            hash = try await FileFolder.blocking { [hash] in try hash.adding(file, upTo: end) }
        }
        return hash
    }

    private func receive<Body: AsyncSequence>(
        _ body: Body,
        into part: inout OpenPart,
        of upload: UploadRecord,
        for caller: BudgetCaller
    ) async throws where Body.Element == ByteBuffer {
        var room = UploadReservation(
            self.room,
            app: upload.app,
            for: caller,
            from: part.hash.count,
            size: upload.size
        )
        do {
            for try await buffer in body {
                guard part.hash.count + buffer.readableBytes <= upload.size else {
                    let message = "the file has \(upload.size) bytes, and more were sent"
                    throw RequestError(.invalid, code: "too_many_bytes", message: message)
                }
                try await room.extend(to: part.hash.count + buffer.readableBytes)
                part.hash = try await Self.write(buffer, to: part.file, part.hash)
                room.settle(upTo: part.hash.count)
                if part.hash.count - part.counted >= Self.step { part.counted = try await self.count(part, of: upload) }
            }
            part.counted = try await self.count(part, of: upload)
        } catch {
            // The bytes that have arrived need not be sent again, also when the request was cancelled.
            _ = try? await Task { [part] in try await self.count(part, of: upload) }.value
            throw error
        }
    }

    static func write(_ buffer: ByteBuffer, to file: OpenFile, _ hash: PartHash) async throws -> PartHash {
        try await FileFolder.blocking {
            try buffer.withUnsafeReadableBytes { try file.write($0, at: hash.count) }
            return hash.adding(buffer)
        }
    }

    /// Counts the bytes of the part once they are on disk.
    /// - Returns: Their number.
    private func count(_ part: OpenPart, of upload: UploadRecord) async throws -> Int {
        guard part.hash.count > part.counted else { return part.counted }
        try await self.checkReserve()
        try await FileFolder.blocking { try part.file.sync() }
        guard try await self.store.noteUpload(upload.id, received: part.hash.count, now: self.time.recorded) else {
            throw UploadFailure.missing
        }
        self.state.withLock { state in
            // Bounds the memory: a hash can be computed from its part again.
            if state.hashes.count >= Self.rememberedHashes, state.hashes[upload.id] == nil,
                let other = state.hashes.keys.first
            {
                state.hashes[other] = nil
            }
            state.hashes[upload.id] = part.hash
        }
        return part.hash.count
    }

    /// Completes the upload if its part is whole.
    private func finish(_ part: OpenPart, of upload: UploadRecord) async throws -> UploadRecord {
        guard part.hash.count == upload.size else { return try await self.present(upload) }
        self.state.withLock { $0.hashes[upload.id] = nil }
        guard part.hash.value == upload.hash else {
            _ = try await self.store.noteUpload(upload.id, received: 0, now: self.time.recorded)
            throw UploadFailure.wrongHash
        }
        return try await self.completed(upload)
    }

    /// Completes the upload, whose part is whole or the content already.
    private func completed(_ upload: UploadRecord) async throws -> UploadRecord {
        guard try await self.complete(upload, placing: true) != nil else { throw UploadFailure.missing }
        return try await self.present(upload)
    }

    private func present(_ upload: UploadRecord) async throws -> UploadRecord {
        guard let changed = try await self.store.upload(upload.id) else { throw UploadFailure.missing }
        return changed
    }

    /// Adds the file of an upload to its app.
    /// - Parameter placing: Makes the part of the upload the content first. Otherwise the app must have the file.
    func complete(_ upload: UploadRecord, placing: Bool) async throws -> FileRecord? {
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

    /// Logs a failure of the disk, and returns the error for the caller.
    func reported(_ failure: OpenFile.Failure, _ upload: UUID) -> UploadFailure {
        self.logger.error(
            "file cannot be stored",
            metadata: ["upload": "\(upload)", "error": "\(failure)", "folder": "\(self.folder.path)"]
        )
        return failure.isFull ? .full("\(failure)") : .unwritable
    }
}
