import Foundation
package import NIOCore
package import PushStore
import PushSupport

/// A file whose size and hash are found out while it arrives.
package struct NewFile: Hashable, Sendable {
    package var app: Int64
    /// Empty for one that is named by its hash.
    package var name: String
    package var contentType: String
    /// The size that its sender announces; `nil` if it does not.
    package var announcedSize: Int?

    package init(app: Int64, name: String, contentType: String, announcedSize: Int? = nil) {
        (self.app, self.name, self.contentType) = (app, name, contentType)
        self.announcedSize = announcedSize
    }
}

extension UploadService {
    /// Receives a whole file in one go. Of one that does not arrive whole nothing is kept.
    ///
    /// - Parameter body: The bytes. Its error is that of the file.
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
                // A file that has no room now is refused before it is sent. Only what arrives holds some.
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
                // Also when the request was cancelled.
                await Task { [store = self.store] in
                    _ = try? await store.deleteUpload(id)
                    try? await FileFolder.blocking { folder.removePart(of: id) }
                }.value
                guard let failure = error as? OpenFile.Failure else { throw error }
                throw self.reported(failure, id)
            }
        }
    }

    /// Checks that bytes that are not stored yet fit into the quota of their app.
    /// - Returns: The bytes that fit.
    @discardableResult
    private func checkQuota(for count: Int, app: Int64) async throws -> Int {
        guard let quota = self.quota else { return .max }
        let used = try await self.store.storedBytes(app: app) + self.room.kept(app: app)
        guard count <= quota - used else { throw self.overQuota(used, for: count) }
        return quota - used
    }

    /// Writes the bytes to a part, and returns it as an upload that has arrived.
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
